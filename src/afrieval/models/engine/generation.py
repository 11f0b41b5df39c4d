"""Greedy generation for several prompts at once, what they have in common computed once and read once per step."""

from collections.abc import Callable
from typing import Any

import torch
from accelerate.utils.memory import should_reduce_batch_size

from afrieval.errors import UserError
from afrieval.models.engine.forward import Forward, Seen
from afrieval.models.engine.memory import Packs

SHARED = -1  # owner of tokens that all prompts begin with
Ends = Callable[[list[int]], bool]


class Generator:
    """Generates for one batch of prompts after the other, and keeps the beginning they share from batch to batch.

    Args:
        lm: a model of the harness' hf backend, decoder-only.
        packs: how many tokens of prompts are computed at a time.
    """

    def __init__(self, lm: Any, packs: Packs):
        self._lm, self._packs = lm, packs
        self._forward: Forward | None = None
        self._prefix: list[int] = []

    def __call__(self, prompts: list[list[int]], most: int, ends: Ends) -> list[list[int]]:
        """Returns the tokens generated for each prompt, the one that ends it included.

        Args:
            prompts: token ids; none is empty.
            most: tokens to generate for each.
            ends: tells from the tokens generated for a prompt whether they have come to an end.

        Raises:
            UserError: if a single prompt needs too much memory, a few tokens at a time.
        """
        try:
            return self._generate(prompts, most, ends)
        except RuntimeError as e:
            if not should_reduce_batch_size(e):
                raise
        self._forward = None
        if (half := len(prompts) // 2) == 0:
            self._packs.reduce(size := self._packs.size(self._lm, len(prompts[0]) + most), size)
            return self(prompts, most, ends)
        return self(prompts[:half], most, ends) + self(prompts[half:], most, ends)

    def _generate(self, prompts: list[list[int]], most: int, ends: Ends) -> list[list[int]]:
        prefix = beginning(prompts)
        rests = [prompt[len(prefix) :] for prompt in prompts]
        room = len(prefix) + sum(map(len, rests)) + len(prompts) * most
        forward, kept = self._begin(prefix, room)
        run = _Run(self._lm, forward, self._prefix[:kept])
        size = self._packs.size(self._lm, room)
        self._prefix = []  # until it is whole
        run.read([(SHARED, token, kept + i) for i, token in enumerate(prefix[kept:])], size)
        self._prefix = prefix
        tokens = [(i, t, len(prefix) + j) for i, rest in enumerate(rests) for j, t in enumerate(rest)]
        new: list[list[int]] = [[] for _ in prompts]
        latest = run.read(tokens, size)
        for step in range(most):
            for i, token in latest.items():
                new[i].append(token)
            going = [i for i in latest if not ends(new[i])]
            if not going or step == most - 1:
                break
            if len(going) < len(latest):
                run.drop(set(latest) - set(going))
            self._lm.work.add(written=len(going))
            latest = run.read([(i, new[i][-1], len(prompts[i]) + len(new[i]) - 1) for i in going], size)
        run.drop(set(range(len(prompts))))
        return new

    def _begin(self, prefix: list[int], room: int) -> tuple[Forward, int]:
        """Returns what runs the model, and how much of a prefix its cache holds already."""
        forward = self._forward
        if forward is None or forward.cache.room < room:
            self._forward = forward = Forward(self._lm, room)
            return forward, 0
        kept = len(beginning([[*self._prefix, 0], [*prefix, 0]])) if self._prefix else 0
        forward.cache.keep(torch.arange(kept))
        return forward, kept


class _Run:
    """The tokens in the cache while a batch is generated: whose they are and where they stand."""

    def __init__(self, lm: Any, forward: Forward, prefix: list[int]):
        self._lm, self._forward = lm, forward
        self._owner = torch.full((len(prefix),), SHARED, device=lm.device)
        self._depth = torch.arange(len(prefix), device=lm.device)

    def read(self, tokens: list[tuple[int, int, int]], size: int) -> dict[int, int]:
        """Runs tokens, given as owner, id and position, and returns the most probable next token of each owner."""
        following: dict[int, int] = {}
        for begin in range(0, len(tokens), size):
            pack = tokens[begin : begin + size]
            owner, ids, depth = torch.tensor(pack, device=self._lm.device).T
            key_owner, key_depth = torch.cat([self._owner, owner]), torch.cat([self._depth, depth])
            sees = (key_owner == SHARED) | (key_owner == owner[:, None])
            last = {token[0]: i for i, token in enumerate(pack)}
            sees &= key_depth <= depth[:, None]
            logits = self._forward(ids, depth, Seen(sees, key_depth), list(last.values()))
            self._owner, self._depth = key_owner, key_depth
            best = logits.float().argmax(dim=-1)
            check_numbers([unusable(logits.gather(-1, best[:, None]))])  # NaN counts as the largest of all
            following |= zip(last, best.tolist(), strict=True)
        return following

    def drop(self, owners: set[int]) -> None:
        """Forgets the tokens of some prompts."""
        gone = torch.isin(self._owner, torch.tensor(sorted(owners), device=self._lm.device))
        stay = torch.nonzero(~gone)[:, 0]
        self._forward.cache.keep(stay)
        self._owner, self._depth = self._owner[stay], self._depth[stay]


def unusable(logits: torch.Tensor) -> torch.Tensor:
    """Returns whether one of the logits is NaN or infinite; minus infinity forbids a token, and is meant."""
    return ~(logits < float("inf")).all()


def check_numbers(not_numbers: list[torch.Tensor]) -> None:
    """Refuses answers written with logits that are not numbers: they mean nothing, and look like others.

    Args:
        not_numbers: for some steps, whether there was such a logit.

    Raises:
        UserError: if there was one.
    """
    if any(map(bool, not_numbers)):
        raise UserError(
            "what the model computes while it writes is not a number (NaN or infinite)",
            "give --model.dtype bfloat16 or float32",
        )


def beginning(prompts: list[list[int]]) -> list[int]:
    """Returns what all prompts begin with, less than the whole of each."""
    first, last = min(prompts), max(prompts)
    most = min(map(len, prompts)) - 1
    return first[: next((i for i in range(most) if first[i] != last[i]), most)]
