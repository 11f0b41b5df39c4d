"""Attention of answers that are generated side by side: to the beginning they share, and to their own tokens."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import pairwise, starmap
from math import inf

import torch
from torch import Tensor

from afrieval.models.engine.attention import Part, Tile, additive, attend, merged, share_left
from afrieval.models.engine.caches import SHARED, Layout, Segment

WORTH = 600  # keys of a slot that a CPU reads while it begins another run, in a layer
# What tokens look at: the shared beginning, if they do; single tokens of slots that follow each other, the same keys of
# each of these slots; and other tokens, keys of their own place.
Plan = tuple[Tile | None, Sequence[tuple[slice, Tile]], Sequence[Sequence[Tile]]]


class DecodePass:
    """The tokens of one pass: single tokens of slots first, in the order of slots, then longer segments.

    Segments of the shared beginning are not mixed with others.
    """

    def __init__(self, layout: Layout, segments: Sequence[Segment]):
        self.layout, self.segments = layout, segments

    @property
    def tokens(self) -> list[int]:
        """Their ids."""
        return [token for segment in self.segments for token in segment.tokens]

    @property
    def depth(self) -> list[int]:
        """Their positions in their prompts."""
        layout = self.layout
        begins = [s.before + (0 if s.slot == SHARED else layout.shared) for s in self.segments]
        return [b + i for b, s in zip(begins, self.segments, strict=True) for i in range(len(s.tokens))]

    @property
    def cache_index(self) -> list[int]:
        """The places of their keys."""
        return [self.layout.start(s.slot) + s.before + i for s in self.segments for i in range(len(s.tokens))]

    def whole(self, window: int, device: torch.device) -> Tensor:
        """Returns which keys each of the tokens sees, [tokens, keys], for models that need to be given it.

        Args:
            window: how many tokens back a token sees, itself included; 0 for all.
            device: where it is made.
        """
        layout = self.layout
        depth, position = (torch.tensor(values, device=device)[:, None] for values in (self.depth, self.cache_index))
        key = torch.arange(layout.size, device=device)
        between = position - depth  # what lies between the shared beginning and a token's own slot
        own_depth = torch.where(key < layout.shared, key, key - between)
        seen = ((key < layout.shared) | (key >= layout.shared + between)) & (own_depth <= depth)
        return seen & (depth - own_depth < window) if window else seen

    def parts(self, window: int, dtype: torch.dtype, device: torch.device) -> Callable[..., Tensor]:
        """Returns `attention` of the pass with its plan."""
        return partial(attention, self.layout, *self.plan(window, dtype, device))

    def plan(self, window: int, dtype: torch.dtype, device: torch.device) -> Plan:
        """Returns what the tokens look at."""
        alone = sum(len(s.tokens) == 1 and s.slot != SHARED for s in self.segments)
        runs = [*self._runs(self.segments[:alone], window, dtype, device)]
        first, owns = alone, []
        for segment in self.segments[alone:]:
            owns.append(self._own(segment, first, window, dtype, device))
            first += len(segment.tokens)
        inside = self.segments[0].slot == SHARED
        return None if inside else self._shared(window, dtype, device), runs, owns

    def _shared(self, window: int, dtype: torch.dtype, device: torch.device) -> Tile | None:
        """Returns which keys of the shared beginning are looked at, with a mask if not all see the same."""
        n = self.layout.shared
        oldest = [max(0, depth - window + 1) if window else 0 for depth in self.depth]
        begin = min(oldest)
        if begin >= n:
            return None
        if max(oldest) == begin:
            return Tile(slice(None), slice(begin, n))
        seen = torch.arange(begin, n, device=device) >= torch.tensor(oldest, device=device)[:, None]
        return Tile(slice(None), slice(begin, n), additive(seen, dtype)[None, None])

    def _runs(
        self, alone: Sequence[Segment], window: int, dtype: torch.dtype, device: torch.device
    ) -> Iterator[tuple[slice, Tile]]:
        """Yields slots that follow each other, and the keys of each that its single token looks at."""
        for begin, end in pairwise(_bounds(alone, WORTH if device.type == "cpu" else inf)):
            before = [s.before for s in alone[begin:end]]
            last, length = torch.tensor(before, device=device)[:, None], max(before) + 1
            key = torch.arange(length, device=device)
            seen = (key <= last) & (key > last - window) if window else key <= last
            all_seen = (not window or length <= window) and min(before) == length - 1
            mask = None if all_seen else additive(seen, dtype)[:, None, None]
            slot = alone[begin].slot
            yield slice(slot, slot + end - begin), Tile(slice(begin, end), slice(0, length), mask)

    def _own(self, segment: Segment, first: int, window: int, dtype: torch.dtype, device: torch.device) -> list[Tile]:
        """Returns which keys of their own place some tokens look at, `first` of the pass being the first."""
        n, start = len(segment.tokens), self.layout.start(segment.slot)
        queries = slice(first, first + n)
        middle = start + segment.before
        if window and segment.before + n > window:
            query = torch.arange(segment.before, segment.before + n, device=device)[:, None]
            begin = max(0, segment.before - window + 1)
            key = torch.arange(begin, segment.before + n, device=device)
            seen = (key <= query) & (key > query - window)
            return [Tile(queries, slice(start + begin, middle + n), additive(seen, dtype)[None, None])]
        new = Tile(queries, slice(middle, middle + n), causal=True)
        return [Tile(queries, slice(start, middle)), new] if segment.before else [new]


def _bounds(alone: Sequence[Segment], worth: float) -> list[int]:
    """Returns where runs of single tokens begin, and the end of the last.

    All tokens of a run are compared with as many keys as the longest of its slots has. A run ends where a slot does
    not follow the one before, or where more keys are saved than are worth a run of its own.
    """
    bounds, longest = [0], 0
    for i, (slot, before, _) in enumerate(alone):
        length, n = before + 1, i - bounds[-1]
        saved = (n + 1) * max(longest, length) - n * longest - length
        if i and (slot != alone[i - 1].slot + 1 or saved > worth):
            bounds.append(i)
            longest = 0
        longest = max(longest, length)
    return [*bounds, len(alone)] if alone else []


def attention(
    layout: Layout,
    shared: Tile | None,
    runs: Sequence[tuple[slice, Tile]],
    owns: Sequence[Sequence[Tile]],
    query: Tensor,
    key: Tensor,
    value: Tensor,
    *,
    scale: float,
    softcap: float | None = None,
    sinks: Tensor | None = None,
) -> Tensor:
    """Returns the attention of a pass, [1, heads, tokens, d_v]; queries, keys and values have the same shape."""

    def seen(tile: Tile) -> Part:
        q, k, v = query[:, :, tile.queries], key[:, :, tile.keys], value[:, :, tile.keys]
        return attend(q, k, v, scale=scale, mask=tile.mask, causal=tile.causal, softcap=softcap)

    def in_run(slots: slice, tile: Tile) -> Part:
        k, v = (layout.of_slots(states)[slots, :, tile.keys] for states in (key, value))
        q = query[0, :, tile.queries].transpose(0, 1)[:, :, None]
        output, lse = attend(q, k, v, scale=scale, mask=tile.mask, softcap=softcap)
        return output.transpose(0, 2), lse.transpose(0, 2)

    partial_outputs = [*starmap(in_run, runs), *(merged(map(seen, tiles)) for tiles in owns)]
    parts = [(torch.cat([o for o, _ in partial_outputs], dim=2), torch.cat([lse for _, lse in partial_outputs], dim=2))]
    if shared is not None:
        parts.append(seen(shared))
    output, lse = merged(parts)
    return output if sinks is None else output * share_left(lse, sinks).to(output.dtype)
