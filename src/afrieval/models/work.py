"""Counts requests, seconds and tokens: both those the harness would compute and those the engine computes."""

import time
from array import array
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, fields
from typing import Any

from afrieval.models.engine.requests import CountsTokens, TokenRequest

KINDS = {"loglikelihood": "likelihoods", "loglikelihood_rolling": "likelihoods", "generate_until": "answers"}


@dataclass
class Amount:
    """What requests of a kind take; tokens are 0 for backends that do not count them.

    Attributes:
        requests: number of requests.
        plain: tokens of prompts, and of answers that are scored, as `plain_tokens` counts them.
        computed: tokens in forward passes, padding included.
        written: how many of them belong to generated answers.
        most: the most tokens that generated answers may have.
        seconds: from the first request to the last answer.
    """

    requests: int = 0
    plain: int = 0
    computed: int = 0
    written: int = 0
    most: int = 0
    seconds: float = 0.0

    def __add__(self, other: "Amount") -> "Amount":
        return Amount(*(getattr(self, of.name) + getattr(other, of.name) for of in fields(self)))

    def clear(self) -> None:
        """Forgets what was counted."""
        for part in fields(self):
            setattr(self, part.name, part.default)

    def stored(self) -> dict[str, Any]:
        """Returns the counts as run.yaml stores them."""
        amounts = {of.name: getattr(self, of.name) for of in fields(self)} | {"seconds": round(self.seconds, 3)}
        return {name: value for name, value in amounts.items() if value or name in ("requests", "seconds")}


@dataclass
class Work(CountsTokens):
    """What the answers of a model take, by kind of request.

    Attributes:
        kinds: by the names in `KINDS`.
        current: the kind of the requests that are being answered; passes are not counted where there are none.
    """

    kinds: dict[str, Amount] = field(default_factory=lambda: {kind: Amount() for kind in KINDS.values()})
    current: Amount | None = None

    def stored(self) -> dict[str, Any]:
        """Returns the counts as run.yaml stores them."""
        return {kind: amount.stored() for kind, amount in self.kinds.items() if amount.requests}

    def add(self, **counted: int) -> None:
        """Adds counts to the requests that are being answered."""
        for name, count in counted.items():
            if self.current is not None:
                setattr(self.current, name, getattr(self.current, name) + count)

    @contextmanager
    def answering(self, method: str, requests: int, model: Any) -> Iterator[None]:
        """Counts the forward passes and the time of some requests, also if they are interrupted."""
        amount = self.kinds[KINDS[method]]
        began, before = time.monotonic(), self.current
        self.current = amount
        amount.requests += requests
        try:
            with self._counting(model):
                yield
        finally:
            amount.seconds += time.monotonic() - began
            self.current = before

    @contextmanager
    def _counting(self, model: Any) -> Iterator[None]:
        """Counts the tokens of all forward passes of a model; it has no hooks afterwards."""

        def count(module: Any, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
            ids, embedded = kwargs.get("input_ids", args[0] if args else None), kwargs.get("inputs_embeds")
            self.add(computed=ids.numel() if ids is not None else 0 if embedded is None else embedded[..., 0].numel())

        modules = []  # that tokens are given to: the model, or encoder and decoder, inside any adapter
        if hasattr(model, "register_forward_hook"):
            inner = model.get_base_model() if hasattr(model, "peft_config") else model
            is_double = getattr(getattr(inner, "config", None), "is_encoder_decoder", False)
            modules = [inner.get_encoder(), inner.get_decoder()] if is_double else [inner]
        with ExitStack() as stack:
            for module in modules:
                stack.callback(module.register_forward_hook(count, with_kwargs=True).remove)
            yield

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Counts nothing."""
        before, self.current = self.current, None
        try:
            yield
        finally:
            self.current = before


def total(works: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Returns the sum of what `Work.stored` returned in several processes, which work at the same time."""
    if len(works) == 1:
        return works[0]
    summary = {}
    for kind in dict.fromkeys(KINDS.values()):
        members = [Amount(**work[kind]) for work in works if kind in work]
        if members:
            summed = sum(members, Amount())
            summed.seconds = max(member.seconds for member in members)
            summary[kind] = summed.stored()
    return summary


def plain_tokens(requests: Sequence[TokenRequest], longest: int, causal: bool) -> int:
    """Returns how many tokens the harness computes for likelihoods, padding left out.

    It computes the whole prompt for each answer; answers that differ in their last token only share it.
    """
    if not causal:
        return sum(min(len(context), longest) + len(answer) for _, context, answer in requests)
    sequences = {(array("i", context) + array("i", answer[:-1])).tobytes() for _, context, answer in requests}
    return sum(min(len(sequence) // array("i").itemsize, longest) for sequence in sequences)
