"""The engine's cache holds what it was told to, and has room for the longest sequence and a pack, no more."""

import random
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.models.engine.asked import named, tokens, tree
from tests.models.shapes import decoder, loaded

from afrieval.models.engine.caches import BufferCache, BufferLayer
from afrieval.models.engine.tree import build_tree

LAYERS, ROOM = 3, 20


def states(begin: int, n: int, layer: int) -> torch.Tensor:
    """Returns the keys of n tokens, all numbers different."""
    one = torch.arange(begin, begin + n, dtype=torch.float32)[None, None, :, None]
    return one.repeat(1, 2, 1, 4) + 1000 * layer + 100_000 * torch.arange(2.0)[None, :, None, None]


def update(cache: BufferCache, begin: int, n: int, layers: int = LAYERS) -> list[tuple[torch.Tensor, torch.Tensor]]:
    return [cache.update(states(begin, n, i), -states(begin, n, i), i) for i in range(layers)]


def held(cache: BufferCache, layer: int) -> list[int]:
    """Returns the tokens that a layer holds, told by their keys; values and heads are checked against them."""
    there: Any = cache.layers[layer]
    keys, values = there.keys[:, :, : there.length], there.values[:, :, : there.length]
    assert torch.equal(keys, -values) and torch.equal(keys[0, 0] + 100_000, keys[0, 1])
    return [int(k) - 1000 * layer for k in keys[0, 0, :, 0]]


@settings(max_examples=40)
@given(st.lists(st.tuples(st.integers(1, 6), st.integers(0, 2**20), st.booleans()), min_size=1, max_size=12))
def test_it_holds_what_a_list_would(steps: list[tuple[int, int, bool]]) -> None:
    cache, expected, new = BufferCache(LAYERS, ROOM), list[int](), 0
    for n, choice, breaks_off in steps:
        if len(expected) + n > ROOM:
            break
        before, got = len(expected), update(cache, new, n, 1 if breaks_off else LAYERS)
        assert got[0][0].shape[2] == before + n == cache.get_seq_length()
        if breaks_off:
            cache.crop(before)
        else:
            expected += range(new, new + n)
            stay = [i for i in range(len(expected)) if choice >> i & 1]
            cache.keep(torch.tensor(stay, dtype=torch.long))
            expected = [expected[i] for i in stay]
        new += n
        assert cache.get_seq_length() == len(expected)
        if any(layer.is_initialized for layer in cache.layers[1:]):
            assert [held(cache, i) for i in range(LAYERS)] == [expected] * LAYERS


def test_a_full_cache_takes_no_more() -> None:
    cache = BufferCache(LAYERS, 4)
    update(cache, 0, 3)
    with pytest.raises(RuntimeError):
        update(cache, 3, 2)


def large_requests() -> list[Any]:
    """Returns requests for a tree of which no path has more than a small part."""
    draw = random.Random(5)
    head = tokens(draw, 20)
    contexts = [head + tokens(draw, 20) for _ in range(40)]
    return named([(context, tokens(draw, 5)) for context in contexts for _ in range(3)])


def test_the_room_is_the_longest_sequence_and_a_pack(monkeypatch: pytest.MonkeyPatch) -> None:
    caches, lengths, update = list[BufferCache](), list[int](), BufferLayer.update
    make, pack = BufferCache.__init__, 16

    def init(self: BufferCache, layers: int, room: int) -> None:
        caches.append(self)
        make(self, layers, room)

    def noted(self: BufferLayer, *args: Any, **kwargs: Any) -> Any:
        got = update(self, *args, **kwargs)
        lengths.append(self.length)
        return got

    monkeypatch.setattr(BufferCache, "__init__", init)
    monkeypatch.setattr(BufferLayer, "update", noted)
    requests = large_requests()
    planted = build_tree([(c + a)[:-1] for _, c, a in requests], [a for *_, a in requests])
    tree(loaded(decoder("llama")), requests, pack)
    (cache,) = caches
    layers: Any = cache.layers
    assert {layer.keys.shape[2] for layer in layers} == {cache.room}
    assert max(lengths) <= cache.room <= planted.longest + pack < len(planted.tokens) / 3
