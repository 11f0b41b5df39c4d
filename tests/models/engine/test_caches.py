"""The engine's cache holds what it was told to, and has room for the longest sequence and a pack, no more."""

import random
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.models.engine.asked import named, tokens, tree
from tests.models.shapes import decoder, loaded

from afrieval.models.engine.caches import KeyLayer, PathCache, RowLayout, StateLayer
from afrieval.models.engine.tree import build_tree

LAYERS, ROOM = 3, 20
CPU = torch.device("cpu")


def empty(room: int) -> PathCache:
    return PathCache(decoder("llama", num_hidden_layers=LAYERS), room)


def states(begin: int, n: int, layer: int) -> torch.Tensor:
    """Returns the keys of n tokens, all numbers different."""
    one = torch.arange(begin, begin + n, dtype=torch.float32)[None, None, :, None]
    return one.repeat(1, 2, 1, 4) + 1000 * layer + 100_000 * torch.arange(2.0)[None, :, None, None]


def update(cache: PathCache, before: int, begin: int, n: int, layers: int = LAYERS) -> list[Any]:
    cache.write_at(slice(before, before + n), before + n)
    return [cache.update(states(begin, n, i), -states(begin, n, i), i) for i in range(layers)]


def held(cache: PathCache, layer: int, length: int) -> list[int]:
    """Returns the tokens that a layer holds, by their keys; values and heads are checked against them."""
    buffers: Any = cache.layers[layer]
    keys, values = buffers.keys[:, :, :length], buffers.values[:, :, :length]
    assert torch.equal(keys, -values) and torch.equal(keys[0, 0] + 100_000, keys[0, 1])
    return [int(k) - 1000 * layer for k in keys[0, 0, :, 0]]


@settings(max_examples=40)
@given(st.lists(st.tuples(st.integers(1, 6), st.integers(0, 2**20), st.booleans()), min_size=1, max_size=12))
def test_it_holds_what_a_list_would(steps: list[tuple[int, int, bool]]) -> None:
    cache, expected, new = empty(ROOM), list[int](), 0
    for n, choice, breaks_off in steps:
        if len(expected) + n > ROOM:
            break
        before = len(expected)
        keys = update(cache, before, new, n, 1 if breaks_off else LAYERS)[0][0]
        assert keys.shape[2] == before + n == cache.get_seq_length()
        if not breaks_off:
            expected += range(new, new + n)
            stay = [i for i in range(len(expected)) if choice >> i & 1]
            cache.keep(torch.tensor(stay, dtype=torch.long))
            expected = [expected[i] for i in stay]
        new += n
        if any(layer.is_initialized for layer in cache.layers[1:]):
            assert [held(cache, i, len(expected)) for i in range(LAYERS)] == [expected] * LAYERS


def test_a_full_cache_grows() -> None:
    cache = empty(4)
    update(cache, 0, 0, 3)
    update(cache, 3, 3, 4)
    assert cache.room == 7
    assert [held(cache, i, 7) for i in range(LAYERS)] == [[*range(7)]] * LAYERS


@given(st.lists(st.integers(1, 5), min_size=1, max_size=5))
def test_tokens_in_rows_are_joined_and_split(lengths: list[int]) -> None:
    rows = RowLayout.of(lengths, CPU)
    longest, n = max(2, *lengths), sum(lengths)
    padded = torch.zeros(len(lengths), 2, longest, 3)
    tokens = torch.arange(1.0, 6.0 * n + 1).reshape(n, 2, 3)
    for i, length in enumerate(lengths):
        padded[i, :, :length] = tokens[sum(lengths[:i]) :][:length].transpose(0, 1)
    assert torch.equal(rows.joined(padded), tokens.transpose(0, 1)[None])
    assert torch.equal(rows.split(rows.joined(padded)), padded)
    flat = padded.transpose(1, 2).flatten(0, 1)
    assert torch.equal(flat[rows.numbers([*range(n)])], tokens)


def test_states_are_continued_from_where_they_were_stored() -> None:
    layer = StateLayer()
    layer.load(None)
    layer.update_conv_state(torch.ones(2, 3, 4))
    layer.update_recurrent_state(torch.tensor([[1.0], [2.0]]))
    layer.store(torch.tensor([4, 1]), 5)
    layer.load(torch.tensor([1, 4, 1]))
    assert layer.recurrent_states[0].flatten().tolist() == [2, 1, 2]
    layer.update_recurrent_state(torch.tensor([[5.0], [6.0], [7.0]]))
    layer.load(slice(1, 2))
    assert layer.recurrent_states[0].tolist() == [[2]], "a copy has changed, which was not stored"
    layer.update_recurrent_state(torch.tensor([[9.0]]))
    layer.store(slice(1, 2), 5)
    layer.load(torch.tensor([1, 4]))
    assert layer.recurrent_states[0].flatten().tolist() == [9, 1]
    assert layer.has_previous_state == {0: True}
    layer.load(None)
    assert layer.has_previous_state == {0: False} and layer.recurrent_states == {0: None}


def large_requests() -> list[Any]:
    """Returns requests for a tree of which no path has more than a small part."""
    draw = random.Random(5)
    head = tokens(draw, 20)
    contexts = [head + tokens(draw, 20) for _ in range(40)]
    return named([(context, tokens(draw, 5)) for context in contexts for _ in range(3)])


def test_the_room_is_the_longest_sequence_and_a_pack(monkeypatch: pytest.MonkeyPatch) -> None:
    caches, lengths, update = list[PathCache](), list[int](), KeyLayer.update
    create, pack = PathCache.__init__, 16

    def init(self: PathCache, model: Any, room: int) -> None:
        caches.append(self)
        create(self, model, room)

    def noted(self: KeyLayer, *args: Any, **kwargs: Any) -> Any:
        lengths.append(self.visible)
        return update(self, *args, **kwargs)

    monkeypatch.setattr(PathCache, "__init__", init)
    monkeypatch.setattr(KeyLayer, "update", noted)
    requests = large_requests()
    planted = build_tree([(c + a)[:-1] for _, c, a in requests], [a for *_, a in requests])
    tree(loaded(decoder("llama")), requests, pack)
    (cache,) = caches
    layers: Any = cache.layers
    assert {layer.keys.shape[2] for layer in layers} == {cache.room}
    assert max(lengths) <= cache.room <= planted.longest + pack < len(planted.tokens) / 3
