"""In the tiles of a pack, each token meets each key that it sees exactly once, and no other."""

import random

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from afrieval.models.engine import tree_attention as module
from afrieval.models.engine.attention import Tile
from afrieval.models.engine.tree import TokenTree, build_tree
from afrieval.models.engine.tree_attention import VisibleKeys, attention, tiles

CPU = torch.device("cpu")
SIZES = {"BLOCK": {"cpu": 6}, "GAP": 2, "WHOLE": 3}  # so that small trees have tiles of all kinds


@pytest.fixture(autouse=True)
def small_tiles(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in SIZES.items():
        monkeypatch.setattr(module, name, value)


def drawn_tree(seed: int, sequences: int, longest: int) -> TokenTree:
    """Returns a tree that branches at any depth; some of its sequences are beginnings of others."""
    draw = random.Random(seed)
    found = [[draw.randrange(3) for _ in range(draw.randint(1, longest))]]
    for _ in range(sequences):
        begun = draw.choice(found)[: draw.randint(0, longest)]
        found.append(begun + [draw.randrange(50) for _ in range(draw.randint(0 if begun else 1, longest))])
    return build_tree(found, [[0]] * len(found))


def view_of(tree: TokenTree, begin: int, end: int) -> VisibleKeys:
    """Returns what the nodes of a pack see, if the cache holds the ancestors of the first."""
    before = np.arange(begin)
    keys = np.append(before[tree.end[:begin] > begin], np.arange(begin, end))
    return VisibleKeys(keys, tree.end[keys], tree.depth[keys], len(keys) - (end - begin))


def sequences_of(tree: TokenTree) -> list[set[int]]:
    """Returns each node's ancestors and itself, found from one parent to the next."""
    path, found = list[int](), list[set[int]]()
    for node, depth in enumerate(tree.depth):
        path[depth:] = [node]
        found.append(set(path))
    return found


def seen_by_definition(tree: TokenTree, view: VisibleKeys, window: int) -> NDArray[np.bool_]:
    new, ancestors = view.node[view.cached :], sequences_of(tree)

    def sees(q: int, k: int) -> bool:
        return k in ancestors[q] and (not window or tree.depth[q] - tree.depth[k] < window)

    return np.array([[sees(q, k) for k in view.node] for q in new], dtype=np.bool_)


def met(view: VisibleKeys, found: list[Tile]) -> NDArray[np.int64]:
    """Returns how often each token of the pack meets each key."""
    times = np.zeros((len(view.node) - view.cached, len(view.node)), dtype=np.int64)
    for queries, keys, mask, causal in found:
        size = queries.stop - queries.start, keys.stop - keys.start
        assert min(size) > 0 and (not causal or size[0] == size[1])
        seen = np.ones(size, dtype=np.int64) if mask is None else (mask[0, 0] == 0).numpy().astype(np.int64)
        times[queries, keys] += np.tril(seen) if causal else seen
    return times


@given(
    st.integers(0, 2**20), st.integers(0, 8), st.integers(1, 20), st.integers(1, 30), st.sampled_from([0, 1, 2, 5, 9])
)
def test_each_token_meets_each_key_that_it_sees_once(
    seed: int, sequences: int, longest: int, pack: int, window: int
) -> None:
    tree = drawn_tree(seed, sequences, longest)
    for begin in range(0, len(tree.tokens), pack):
        view = view_of(tree, begin, min(begin + pack, len(tree.tokens)))
        found = met(view, tiles(view, window, torch.float32, CPU))
        seen = seen_by_definition(tree, view, window)
        assert (found == seen).all() and (view.whole(window, CPU).numpy() == seen).all()


def test_what_all_see_needs_no_mask() -> None:
    draw, head = random.Random(3), list(range(100, 140))
    tree = build_tree([head + [draw.randrange(50) for _ in range(5)] for _ in range(20)], [[0]] * 20)
    view = view_of(tree, 50, len(tree.tokens))
    first, *others = tiles(view, 0, torch.float32, CPU)
    assert first == Tile(slice(0, len(tree.tokens) - 50), slice(0, 40))
    assert sum(tile.mask.numel() for tile in others if tile.mask is not None) < 6 * 12 * len(others)


@pytest.mark.parametrize("window", [0, 50])
def test_a_single_sequence_needs_no_mask_within_its_window(window: int) -> None:
    tree = build_tree([list(range(50))], [[0]])
    found = tiles(view_of(tree, 20, 50), window, torch.float32, CPU)
    assert found[0] == Tile(slice(0, 30), slice(0, 20))
    assert all(tile.mask is None for tile in found) and sum(tile.causal for tile in found) == 5


def test_masks_stay_small_where_a_window_cuts_a_sequence() -> None:
    tree = build_tree([list(range(500))], [[0]])
    for tile in tiles(view_of(tree, 200, 500), 20, torch.float32, CPU):
        assert tile.mask is None or tile.mask.numel() <= 20 * (20 + 6)


@pytest.mark.parametrize("softcap", [None, 2.0])
@pytest.mark.parametrize("window", [0, 7])
@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16])
def test_attention_is_that_of_the_whole_mask(dtype: torch.dtype, window: int, softcap: float | None) -> None:
    tree, draw = drawn_tree(7, 8, 20), torch.Generator().manual_seed(0)
    view = view_of(tree, 30, 60)
    n, m = 30, len(view.node)
    query, key, value, sinks = (
        torch.randn(size, generator=draw, dtype=torch.float64).to(dtype)
        for size in ((1, 4, n, 8), (1, 2, m, 8), (1, 2, m, 6), (4,))
    )
    found = tiles(view, window, dtype, CPU)
    assert len(found) > 4 and len({(t.mask is None, t.causal) for t in found}) > 1
    got = attention(found, query, key, value, scale=0.5, softcap=softcap, sinks=sinks)
    seen = torch.from_numpy(seen_by_definition(tree, view, window))
    scores = torch.einsum("bhnd,bhmd->bhnm", query.double(), key.double().repeat_interleave(2, 1)) * 0.5
    scores = scores if softcap is None else softcap * torch.tanh(scores / softcap)
    weights = scores.masked_fill(~seen, -torch.inf).exp()
    total = weights.sum(dim=-1, keepdim=True) + sinks.double().exp()[:, None, None]
    expected = weights / total @ value.double().repeat_interleave(2, 1)
    assert got.dtype == dtype
    assert float((got.double() - expected).abs().max()) < (1e-12 if dtype == torch.float64 else 0.03)
