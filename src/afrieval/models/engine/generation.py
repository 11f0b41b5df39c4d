"""Greedy generation for many prompts: as soon as an answer ends, the next prompt takes its place."""

import logging
from bisect import bisect_left
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import torch
from accelerate.utils.memory import should_reduce_batch_size

from afrieval.errors import UserError
from afrieval.models.engine.attention import attention_by, kind_of, placeholder
from afrieval.models.engine.cascade import Steps, attention
from afrieval.models.engine.forward import SLIDING, inference, kinds
from afrieval.models.engine.memory import Packs
from afrieval.models.engine.slots import Layout, Segment, SlotCache
from afrieval.models.engine.stops import Ends

log = logging.getLogger("afrieval")




@dataclass
class _Answer:
    """A prompt in a slot.

    Attributes:
        number: of the prompt.
        read: its own tokens in the cache.
        pending: those that are not there yet.
        new: what is generated.
    """

    number: int
    pending: list[int]
    read: int = 0
    new: list[int] = field(default_factory=list)


def answers(
    lm: Any, prompts: Sequence[list[int]], most: int, ends: Ends, packs: Packs, slots: int | None = None
) -> Iterator[tuple[int, list[int]]]:
    """Yields the number of a prompt and the tokens generated for it, the one that ends it included, once they are known.

    Args:
        lm: a model of the harness' hf backend, decoder-only.
        prompts: token ids; none is empty.
        most: tokens to generate for each, at least 1.
        ends: tells from the tokens generated for a prompt whether they have come to an end.
        packs: how many tokens of prompts are computed at a time.
        slots: how many answers are generated side by side; as many as fit into memory and pay if not given.

    Raises:
        UserError: if a single prompt needs too much memory, a few tokens at a time.
    """
    for family in families(prompts):
        left = dict.fromkeys(sorted(family, key=lambda i: -len(prompts[i])))  # the longest first: they are of a length
        fewer = fitting(lm, packs, [prompts[i] for i in family], most, slots)
        while left:
            try:
                for i, tokens in _side_by_side(lm, {i: prompts[i] for i in left}, most, ends, packs, fewer):
                    del left[i]
                    yield i, tokens
            except RuntimeError as e:
                if not should_reduce_batch_size(e):
                    raise
            if left:  # handled here, where what the pass had in memory is gone
                fewer = _fewer(lm, packs, min(fewer, len(left)), max(map(len, prompts)) + most)


def fitting(lm: Any, packs: Packs, prompts: list[list[int]], most: int, wanted: int | None) -> int:
    """Returns how many answers to generate side by side.

    With masks, each new token is compared with those of all answers, which pays while they are together no longer than
    twice the longest prompt.

    Args:
        lm: as for `answers`, and so are `packs` and `most`.
        packs: how much is computed at a time.
        prompts: with one shared beginning.
        most: tokens to generate for each.
        wanted: as many as are wanted, if it does not depend on the memory.
    """
    shared, longest = len(beginning(prompts)), max(map(len, prompts))
    own = longest - shared + most
    found = min(wanted or packs.slots(lm, shared, own), len(prompts))
    return found if lm.attention == "tiles" else max(1, min(found, (2 * longest - shared) // own))


def _fewer(lm: Any, packs: Packs, slots: int, longest: int) -> int:
    """Returns how many slots to take after some that were too many."""
    if slots == 1:
        packs.reduce(size := packs.size(lm, longest), size)
        return 1
    if torch.cuda.is_available():
        torch.cuda.empty_cache()
    log.warning("the device's memory is full; going on with %d answers at a time", slots // 2)
    return slots // 2


def _side_by_side(
    lm: Any, prompts: dict[int, list[int]], most: int, ends: Ends, packs: Packs, slots: int
) -> Iterator[tuple[int, list[int]]]:
    shared = beginning([*prompts.values()])
    waiting = deque(_Answer(i, prompt[len(shared) :]) for i, prompt in prompts.items())
    room = max(len(answer.pending) for answer in waiting) + most
    layout = Layout(len(shared), slots, room)
    read = Reader(lm, layout)
    size = max(slots, packs.size(lm, len(shared) + room))
    for begin in range(0, len(shared), size):
        read([Segment(None, begin, shared[begin : begin + size])], [])
    going: dict[int, _Answer] = {}
    while going or waiting:
        for slot in range(slots):
            if slot not in going and waiting:
                going[slot] = waiting.popleft()
        segments = next_segments(going, size)
        asked = [s.slot for s in segments if len(s.tokens) == len(going[s.slot].pending)]
        lm.work.add(written=sum(bool(going[s.slot].new) for s in segments))
        found = read(segments, [i for i, s in enumerate(segments) if s.slot in asked])
        for segment in segments:
            answer = going[segment.slot]
            answer.read += len(segment.tokens)
            answer.pending = answer.pending[len(segment.tokens) :]
        for slot, token in zip(asked, found, strict=True):
            answer = going[slot]
            answer.new.append(token)
            answer.pending = [token]
            if len(answer.new) == most or ends(answer.new):
                del going[slot]
                yield answer.number, answer.new


def next_segments(going: dict[int, _Answer], size: int) -> list[Segment]:
    """Returns what the next pass reads: the last token of each answer that is being written, then prompts.

    Args:
        going: answers by slot.
        size: tokens of a pass; at least one for each slot.
    """
    alone, longer = [], []
    for slot, answer in sorted(going.items()):
        (alone if len(answer.pending) == 1 else longer).append((slot, answer))
    segments = [Segment(slot, answer.read, answer.pending) for slot, answer in alone]
    left = size - len(alone)
    for slot, answer in longer:
        if left > 1:
            segments.append(Segment(slot, answer.read, answer.pending[:left]))
            left -= len(segments[-1].tokens)
    return segments


class Reader:
    """Runs a model over the tokens of a pass, and tells what follows them.

    Args:
        lm: a model of the harness' hf backend, decoder-only.
        layout: of its cache.
    """

    def __init__(self, lm: Any, layout: Layout):
        self._lm, self.layout, self._kinds = lm, layout, kinds(lm.model)
        self._config = lm.model.config.get_text_config(decoder=True)
        self._cache = SlotCache(self._config.num_hidden_layers, layout.size)
        self._windows = [self._kinds.window if name == SLIDING else 0 for name in self._kinds.names]

    def __call__(self, segments: Sequence[Segment], asked: Sequence[int]) -> list[int]:
        """Returns the most probable token after each of some segments.

        Args:
            segments: what is read.
            asked: their numbers.
        """
        steps, device = Steps(self.layout, segments), self._lm.device
        ids, depth, at = torch.tensor([steps.tokens, steps.depth, steps.at], device=device)
        self._cache.write_at(at)
        ends = torch.tensor([len(s.tokens) for s in segments]).cumsum(0) - 1
        tiles = self._lm.attention == "tiles"
        given = attention_by(self._config, partial(self._attention, steps)) if tiles else nullcontext()
        with inference(self._lm), given:
            logits = self._lm.model(
                input_ids=ids[None],
                position_ids=depth[None],
                attention_mask=self._stand_ins() if tiles else self._masks(steps),
                past_key_values=self._cache,
                use_cache=True,
                logits_to_keep=ends[list(asked)].tolist() or [0],  # some output layers take no empty input
            ).logits[0, : len(asked)]
        if not asked:
            return []
        best = logits.float().argmax(dim=-1)
        check_numbers([unusable(logits.gather(-1, best[:, None]))])  # NaN counts as the largest of all
        return list(best.tolist())

    def _stand_ins(self) -> Any:
        dtype, device = self._lm.model.dtype, self._lm.device
        masks = {name: placeholder(i, dtype, device) for i, name in enumerate(self._kinds.names)}
        return masks if len(masks) > 1 else next(iter(masks.values()))

    def _masks(self, steps: Steps) -> Any:
        dtype, device = self._lm.model.dtype, self._lm.device
        masks = {}
        for name, window in zip(self._kinds.names, self._windows, strict=True):
            sees = steps.mask(window, device)
            masks[name] = torch.zeros(sees.shape, dtype=dtype, device=sees.device).masked_fill_(~sees, torch.finfo(dtype).min)[None, None]
        return masks if len(masks) > 1 else next(iter(masks.values()))

    def _attention(
        self,
        steps: Steps,
        layer: Any,
        query: torch.Tensor,
        key: torch.Tensor,
        value: torch.Tensor,
        mask: torch.Tensor,
        *,
        scaling: float | None = None,
        softcap: float | None = None,
        s_aux: torch.Tensor | None = None,
        **others: Any,
    ) -> tuple[torch.Tensor, None]:
        plan = steps.plan(self._windows[kind_of(mask)], query.dtype, query.device)
        scale = query.shape[-1] ** -0.5 if scaling is None else scaling
        found = attention(self.layout, plan, query, key, value, scale=scale, softcap=softcap, sinks=s_aux)
        return found.transpose(1, 2), None


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
    lengths = range(1, min(map(len, prompts)))
    return first[: bisect_left(lengths, True, key=lambda n: first[:n] != last[:n])]


def families(prompts: Sequence[list[int]]) -> list[list[int]]:
    """Returns the numbers of prompts that are generated with the same shared beginning.

    Prompts that have more than half in common with a neighbour, in the order of their tokens, are of its family; all
    others are one together: a single prompt that was cut from the left does not keep the rest apart.
    """
    order = sorted(range(len(prompts)), key=lambda i: prompts[i])
    found: list[list[int]] = []
    for i in order:
        last = found[-1][-1] if found else None
        if last is not None and 2 * len(beginning([prompts[last], prompts[i]])) >= len(prompts[i]):
            found[-1].append(i)
        else:
            found.append([i])
    single = [i for family in found if len(family) == 1 for i in family]
    return [family for family in found if len(family) > 1] + ([single] if single else [])
