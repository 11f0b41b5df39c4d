"""Computes attention over a tree in tiles, blocks of queries times ranges of keys, most of which need no mask."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from afrieval.models.engine.attention import Tile, additive, attend, share_left
from afrieval.models.engine.tree import Ints

Bools = NDArray[np.bool_]
BLOCK = {"cpu": 192, "cuda": 512}  # queries that share a mask; on a GPU, calls weigh more than masked pairs
GAP = 32  # keys that no query of a block sees, if between others: cheaper computed than left out
WHOLE = 128  # keys in the middle of others that all queries of a block see, for which a call without mask pays


@dataclass(frozen=True)
class VisibleKeys:
    """Which keys the tokens of a pack see: their own and the keys of their ancestors in the tree.

    Attributes:
        node: of each key; the last ones belong to the pack.
        end: of each key, the first node behind its descendants.
        depth: of each key, the position of its token.
        cached: how many keys there are before the pack.
    """

    node: Ints
    end: Ints
    depth: Ints
    cached: int

    def mask(self, queries: slice, keys: slice, window: int, device: torch.device) -> Tensor:
        """Returns which of a range of keys some tokens of the pack see, [queries, keys].

        Args:
            queries: tokens of the pack, counted from its first.
            keys: counted from the first that is cached.
            window: how many tokens back a token sees, itself included; 0 for all.
            device: where the mask is made.
        """
        rows = slice(self.cached + queries.start, self.cached + queries.stop)
        query, query_depth = (torch.from_numpy(a[rows]).to(device)[:, None] for a in (self.node, self.depth))
        node, end, depth = (torch.from_numpy(a[keys]).to(device) for a in (self.node, self.end, self.depth))
        seen = (node <= query) & (query < end)
        return seen & (query_depth - depth < window) if window else seen

    def whole(self, window: int, device: torch.device) -> Tensor:
        """Returns the mask of the whole pack and all keys."""
        return self.mask(slice(0, len(self.node) - self.cached), slice(0, len(self.node)), window, device)

    def parts(self, window: int, dtype: torch.dtype, device: torch.device) -> Callable[..., Tensor]:
        """Returns `attention` of the pack's tiles."""
        return partial(attention, tiles(self, window, dtype, device))

    def seen(self, queries: slice, window: int) -> tuple[Bools, Bools]:
        """Returns of each key whether all of some consecutive tokens of the pack see it, and whether any may."""
        rows = slice(self.cached + queries.start, self.cached + queries.stop)
        first, last = self.node[rows].min(), self.node[rows].max()
        by_all, by_any = (self.node <= first) & (last < self.end), (self.node <= last) & (first < self.end)
        if window:
            by_all &= self.depth[rows].max() - self.depth < window
            by_any &= self.depth[rows].min() - self.depth < window
        return by_all, by_any


def tiles(view: VisibleKeys, window: int, dtype: torch.dtype, device: torch.device) -> list[Tile]:
    """Returns tiles in which each token of a pack meets each key within its window once, and no other unmasked."""
    pack = slice(0, len(view.node) - view.cached)
    common, _ = view.seen(pack, window)
    common[view.cached :] = False
    tiles_of_pack = [Tile(pack, keys) for keys in _runs(common)]
    depth = view.depth[view.cached :]
    for queries in _blocks(depth, BLOCK.get(device.type, BLOCK["cpu"])):
        by_all, by_any = view.seen(queries, window)
        new_keys = slice(view.cached + queries.start, view.cached + queries.stop)
        if _is_chain(view.node[new_keys], depth[queries], window):
            tiles_of_pack.append(Tile(queries, new_keys, causal=True))
            by_any[new_keys] = False
        for seen in _joined(_runs(by_any & ~common), common):
            for keys in _split(seen, by_all):
                mask = None if by_all[keys].all() else view.mask(queries, keys, window, device)
                tiles_of_pack.append(Tile(queries, keys, mask if mask is None else additive(mask, dtype)[None, None]))
    return tiles_of_pack


def attention(
    pack_tiles: list[Tile],
    query: Tensor,
    key: Tensor,
    value: Tensor,
    *,
    scale: float,
    softcap: float | None = None,
    sinks: Tensor | None = None,
) -> Tensor:
    """Returns the attention of a pack, [batch, heads, tokens, d_v], from attention to its tiles."""
    exact = torch.promote_types(query.dtype, torch.float32)
    size = query.shape[0], query.shape[2], query.shape[1]
    output = torch.zeros(*size, value.shape[-1], dtype=exact, device=query.device).transpose(1, 2)
    lse = query.new_full(size, torch.finfo(exact).min / 2, dtype=exact).transpose(1, 2)
    for tile in pack_tiles:
        part, part_lse = attend(
            query[:, :, tile.queries],
            key[:, :, tile.keys],
            value[:, :, tile.keys],
            scale=scale,
            mask=tile.mask,
            causal=tile.causal,
            softcap=softcap,
        )
        before = lse[:, :, tile.queries]
        output[:, :, tile.queries].lerp_(part.to(exact), torch.sigmoid(part_lse - before)[..., None])
        before.copy_(torch.logaddexp(before, part_lse))
    return (output if sinks is None else output * share_left(lse, sinks)).to(query.dtype)


def _blocks(depth: Ints, size: int) -> Iterator[slice]:
    """Yields the tokens of a pack in blocks of at most `size`.

    If a sequence ends in it, a block ends where the next token is closest to the root: later blocks see little of it.
    """
    branches = np.append(np.flatnonzero(depth[1:] <= depth[:-1]) + 1, len(depth))
    begin = 0
    while begin < len(depth):
        near = branches[(begin < branches) & (branches <= begin + size)][::-1]
        end = begin + size
        if len(near):
            end = int(near[0] if near[0] == len(depth) else near[np.argmin(depth[near])])
        yield slice(begin, end)
        begin = end


def _is_chain(node: Ints, depth: Ints, window: int) -> bool:
    """Returns whether each token of a block sees all before it in the block, and none behind it."""
    follows = bool((np.diff(node) == 1).all() and (np.diff(depth) == 1).all())
    return follows and (not window or len(depth) <= window)


def _runs(chosen: Bools) -> list[slice]:
    """Returns where consecutive elements are true."""
    edges = np.flatnonzero(np.diff(chosen, prepend=False, append=False))
    return [slice(int(a), int(b)) for a, b in edges.reshape(-1, 2)]


def _joined(ranges: Sequence[slice], apart: Bools) -> Iterator[slice]:
    """Yields ranges of keys, close ones joined unless there is one between them that belongs to another tile."""
    last: slice | None = None
    for keys in ranges:
        if last is not None and keys.start - last.stop <= GAP and not apart[last.stop : keys.start].any():
            last = slice(last.start, keys.stop)
            continue
        if last is not None:
            yield last
        last = keys
    if last is not None:
        yield last


def _split(keys: slice, by_all: Bools) -> list[slice]:
    """Returns a range of keys with the longest part that all queries see by itself, if it is long enough to pay."""
    longest = max(_runs(by_all[keys]), key=lambda run: run.stop - run.start, default=slice(0, 0))
    if longest.stop - longest.start < WHOLE:
        return [keys]
    edges = (keys.start, keys.start + longest.start, keys.start + longest.stop, keys.stop)
    return [slice(a, b) for a, b in pairwise(edges) if a < b]
