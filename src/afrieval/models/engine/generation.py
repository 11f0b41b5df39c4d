"""Generates greedily for many prompts at a time: as soon as an answer ends, the next prompt takes its slot."""

import logging
from bisect import bisect_left
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate, pairwise

import torch
from accelerate.utils.memory import should_reduce_batch_size
from torch import Tensor

from afrieval.models.engine.caches import ROW, SHARED, Layout, PathCache, RowLayout, Segment, has_states
from afrieval.models.engine.decode_attention import DecodePass
from afrieval.models.engine.forward import Forward
from afrieval.models.engine.logits import Ends
from afrieval.models.engine.packs import Packs
from afrieval.models.engine.requests import EngineError, EngineModel

log = logging.getLogger("afrieval")
ROOM = 256  # tokens of an answer that a slot has room for at first
STEP = 12  # tokens of prompts that take as long as a step takes to read a model's weights


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
    lm: EngineModel, prompts: Sequence[list[int]], most: int, ends: Ends, packs: Packs, slots: int | None = None
) -> Iterator[tuple[int, list[int]]]:
    """Yields the number of a prompt and the tokens generated for it, the last one included, once they are known.

    Args:
        lm: a model of the harness' hf backend, decoder-only.
        prompts: token ids; none is empty.
        most: tokens to generate for each, at least 1.
        ends: tells from the tokens generated for a prompt whether they have come to an end.
        packs: how many tokens of prompts are computed at a time.
        slots: how many answers are generated side by side; as many as fit into memory and pay if not given.

    Raises:
        EngineError: if a single prompt needs too much memory, a few tokens at a time.
    """
    for family in families(prompts, most):
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


def fitting(lm: EngineModel, packs: Packs, prompts: list[list[int]], most: int, slots: int | None) -> int:
    """Returns how many answers to generate side by side: as many as are wanted, or fit into memory.

    With masks, each new token is compared with all answers, which pays while they are together no longer than
    twice the longest prompt.
    """
    shared, longest = len(beginning(prompts)), max(map(len, prompts))
    room = longest - shared + most
    fitting_slots = min(slots or packs.slots(lm, shared, room), len(prompts))
    return fitting_slots if lm.attention == "tiles" else max(1, min(fitting_slots, (2 * longest - shared) // room))


def _fewer(lm: EngineModel, packs: Packs, slots: int, longest: int) -> int:
    if slots == 1:
        packs.reduce(size := packs.size(lm, longest), size)
        return 1
    if torch.cuda.is_available():
        torch.cuda.empty_cache()
    log.warning("the device's memory is full; going on with %d answers at a time", slots // 2)
    return slots // 2


def _side_by_side(
    lm: EngineModel, prompts: dict[int, list[int]], most: int, ends: Ends, packs: Packs, slots: int
) -> Iterator[tuple[int, list[int]]]:
    even = has_states(lm.model)
    shared = beginning([*prompts.values()])
    shared = shared[: len(shared) - even]  # two tokens at least are left of each prompt: see `TreeBranch.cut`
    waiting = deque(_Answer(i, prompt[len(shared) :]) for i, prompt in prompts.items())
    longest = max(len(answer.pending) for answer in waiting)
    read = Reader(lm, Layout(len(shared), slots, longest + min(most, ROOM)), longest + most)
    size = max(slots, packs.size(lm, len(shared) + longest + most))
    cuts = [*range(0, len(shared), size), len(shared)]
    if even and len(shared) % size == 1 and len(shared) > 1:
        cuts[-2] -= 1
    for begin, end in pairwise(cuts):
        read([Segment(SHARED, begin, shared[begin:end])], [])
    going: dict[int, _Answer] = {}
    while going or waiting:
        for slot in range(slots):
            if slot not in going and waiting:
                going[slot] = waiting.popleft()
        segments = next_segments(going, size, even)
        lm.work.add(written=sum(bool(going[segment.slot].new) for segment in segments))
        for answer in _continued(read, going, segments):
            if len(answer.new) == most or ends(answer.new):
                yield answer.number, answer.new
                answer.pending = []
        going = {slot: answer for slot, answer in going.items() if answer.pending}


def next_segments(going: dict[int, _Answer], size: int, even: bool = False) -> list[Segment]:
    """Returns what the next pass reads: the last token of each answer that is being written, then prompts.

    Layers with states compute prompts side by side if as many tokens of each are read (`even`).
    """
    ordered = sorted(going.items())
    segments = [Segment(slot, answer.read, answer.pending) for slot, answer in ordered if len(answer.pending) == 1]
    prompts = [(slot, answer) for slot, answer in ordered if len(answer.pending) > 1]
    left = size - len(segments)
    lengths = [len(answer.pending) for _, answer in prompts]
    most = min(left, *lengths) if even and prompts else left
    while even and most > 2 and most + 1 in lengths:  # single tokens are for answers: see `TreeBranch.cut`
        most -= 1
    for slot, answer in prompts:
        if left > 1 and (left >= most or not even):
            segments.append(Segment(slot, answer.read, answer.pending[: min(left, most)]))
            left -= len(segments[-1].tokens)
    return segments


def _continued(read: "Reader", going: dict[int, _Answer], segments: list[Segment]) -> list[_Answer]:
    """Reads tokens of some answers, and returns those that have got another one."""
    read_answers = [going[segment.slot] for segment in segments]
    for segment, answer in zip(segments, read_answers, strict=True):
        answer.read += len(segment.tokens)
        answer.pending = answer.pending[len(segment.tokens) :]
    whole = [i for i, answer in enumerate(read_answers) if not answer.pending]
    for i, token in zip(whole, read(segments, whole), strict=True):
        read_answers[i].new.append(token)
        read_answers[i].pending = [token]
    return [read_answers[i] for i in whole]


class Reader:
    """Runs a model over the tokens of a pass, and tells what follows them.

    Attributes:
        layout: where keys are now; a slot has room for `most` tokens in the end.
    """

    def __init__(self, lm: EngineModel, layout: Layout, most: int):
        self._lm, self.layout, self._most = lm, layout, most
        self._cache = PathCache(lm.model, layout.size)
        self._forward = Forward(lm, self._cache)
        self._has_states = has_states(lm.model)

    def __call__(self, segments: Sequence[Segment], last: Sequence[int]) -> list[int]:
        """Returns the most probable token after each of the segments whose numbers are wanted."""
        self._make_room(max(0 if s.slot == SHARED else s.before + len(s.tokens) for s in segments))
        if not self._has_states:
            return self._read(segments, last, ROW)
        alike: dict[tuple[int, bool], list[int]] = {}
        for i, segment in enumerate(segments):
            begins = segment.before == 0 and (segment.slot == SHARED or not self.layout.shared)
            alike.setdefault((len(segment.tokens), begins), []).append(i)
        best: dict[int, int] = {}
        for (length, begins), numbers in alike.items():
            complete = [i for i in numbers if i in last]
            together = [segments[i] for i in numbers]
            stored = torch.tensor([segment.slot for segment in together]) + 1  # behind the shared beginning's states
            continued = stored * torch.tensor([segment.before > 0 for segment in together])
            neighbours = torch.equal(continued, stored) and bool((stored.diff() == 1).all())
            in_place = slice(int(stored[0]), int(stored[-1]) + 1)  # without a copy: the pass changes what is stored
            self._cache.load(None if begins else in_place if neighbours else continued)
            rows = RowLayout(len(together), length)
            best |= zip(complete, self._read(together, [numbers.index(i) for i in complete], rows), strict=True)
            self._cache.store(stored, self.layout.slots + 1)
        return [best[i] for i in last]

    def _make_room(self, tokens: int) -> None:
        if tokens > self.layout.room:
            wider = replace(self.layout, room=min(max(tokens, 2 * self.layout.room), self._most))
            self._cache.widen(self.layout, wider)
            self.layout = wider

    def _read(self, segments: Sequence[Segment], last: Sequence[int], rows: RowLayout) -> list[int]:
        steps = DecodePass(self.layout, segments)
        tokens, depth, positions = torch.tensor([steps.tokens, steps.depth, steps.cache_index], device=self._lm.device)
        self._cache.write_at(positions, self.layout.size, rows)
        behind = [*accumulate(len(segment.tokens) for segment in segments)]
        logits = self._forward(tokens, depth, steps, [behind[i] - 1 for i in last], rows)
        if not last:
            return []
        best = logits.float().argmax(dim=-1)
        check_numbers([unusable(logits.gather(-1, best[:, None]))])  # NaN counts as the largest of all
        return list(best.tolist())


def unusable(logits: Tensor) -> Tensor:
    """Returns whether one of the logits is NaN or infinite; minus infinity forbids a token, and is meant."""
    return ~(logits < float("inf")).all()


def check_numbers(not_numbers: list[Tensor]) -> None:
    """Refuses answers written with logits that are not numbers: they mean nothing, and look like others."""
    if any(map(bool, not_numbers)):
        hint = "load the model with dtype bfloat16 or float32"
        raise EngineError("what the model computes while it writes is not a number (NaN or infinite)", hint)


def beginning(prompts: list[list[int]]) -> list[int]:
    """Returns what all prompts begin with, less than the whole of each."""
    first, last = min(prompts), max(prompts)
    lengths = range(1, min(map(len, prompts)))
    return first[: bisect_left(lengths, True, key=lambda n: first[:n] != last[:n])]


def families(prompts: Sequence[list[int]], most: int) -> list[list[int]]:
    """Returns the numbers of prompts that are generated with the same shared beginning.

    Prompts that have more than half in common with a neighbour, in the order of their tokens, are of its family, if
    what they save is worth steps of their own; all others are one together: a single prompt that was cut from the left
    does not keep the rest apart.

    Args:
        prompts: token ids.
        most: tokens to generate for each.
    """
    order = sorted(range(len(prompts)), key=lambda i: prompts[i])
    groups: list[list[int]] = []
    for i in order:
        last = groups[-1][-1] if groups else None
        if last is not None and 2 * len(beginning([prompts[last], prompts[i]])) >= len(prompts[i]):
            groups[-1].append(i)
        else:
            groups.append([i])
    pays = [(len(g) - 1) * len(beginning([prompts[i] for i in g])) > STEP * most for g in groups]
    apart = [group for group, pay in zip(groups, pays, strict=True) if pay]
    others = [i for group, pay in zip(groups, pays, strict=True) if not pay for i in group]
    return apart + ([others] if others else [])
