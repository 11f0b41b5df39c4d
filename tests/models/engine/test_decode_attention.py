"""Attention in parts is attention with the whole mask, and that is compared with each answer's tokens, one by one."""

import random

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.strategies import DataObject

from afrieval.models.engine import decode_attention
from afrieval.models.engine.attention import Tile
from afrieval.models.engine.caches import SHARED, Layout, Segment
from afrieval.models.engine.decode_attention import DecodePass, attention

HEADS, KEY_HEADS, SIZE = 4, 2, 8
CLOSE = 1e-5
WINDOWS = st.sampled_from([0, 1, 3, 5, 50])


def drawn_steps(data: DataObject) -> DecodePass:
    """Returns a pass over the shared beginning, or over single tokens of some slots and more of others."""
    layout = Layout(data.draw(st.integers(0, 9)), data.draw(st.integers(1, 6)), room := data.draw(st.integers(2, 12)))
    if layout.shared and data.draw(st.booleans()):
        before = data.draw(st.integers(0, layout.shared - 1))
        return DecodePass(layout, [Segment(SHARED, before, [7] * data.draw(st.integers(1, layout.shared - before)))])
    kinds = data.draw(st.lists(st.integers(0, 2), min_size=layout.slots, max_size=layout.slots).filter(any))
    alone = [Segment(i, data.draw(st.integers(0, room - 1)), [7]) for i, kind in enumerate(kinds) if kind == 1]
    longer = []
    for i in (i for i, kind in enumerate(kinds) if kind == 2):
        before = data.draw(st.integers(0, room - 2))
        longer.append(Segment(i, before, [7] * data.draw(st.integers(2, room - before))))
    return DecodePass(layout, alone + longer)


def places(layout: Layout, slot: int, n: int) -> list[int]:
    """Returns where the first tokens of a sequence are: those of the beginning, and then its own."""
    if slot == SHARED:
        return list(range(n))
    return [*range(layout.shared), *(layout.shared + slot * layout.room + i for i in range(n))]


@settings(max_examples=60)
@given(st.data(), WINDOWS)
def test_masks(data: DataObject, window: int) -> None:
    steps = drawn_steps(data)
    layout, mask = steps.layout, steps.whole(window, torch.device("cpu"))
    expected, depth = torch.zeros_like(mask), []
    row = 0
    for slot, before, tokens in steps.segments:
        for i in range(len(tokens)):
            seen = places(layout, slot, before + i + 1)
            expected[row, seen[-window:] if window else seen] = True
            depth.append(len(seen) - 1)
            assert steps.cache_index[row] == seen[-1]
            row += 1
    assert torch.equal(mask, expected) and depth == steps.depth and len(steps.tokens) == row


@settings(max_examples=60)
@given(st.data(), WINDOWS, st.booleans(), st.booleans(), st.sampled_from([0, 4, 600]))
def test_attention(data: DataObject, window: int, capped: bool, sinks: bool, worth: int) -> None:
    steps = drawn_steps(data)
    n, m = len(steps.tokens), steps.layout.size
    generator = torch.Generator().manual_seed(n * 100 + m)
    query, key, value = (
        2 * torch.randn(1, heads, length, SIZE, generator=generator)
        for heads, length in ((HEADS, n), (KEY_HEADS, m), (KEY_HEADS, m))
    )
    sink = torch.randn(HEADS, generator=generator) if sinks else None
    softcap = 3.0 if capped else None
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(decode_attention, "WORTH", worth)
        plan = steps.plan(window, torch.float32, torch.device("cpu"))
    found = attention(steps.layout, *plan, query, key, value, scale=0.4, softcap=softcap, sinks=sink)
    scores = query.double() @ key.double().repeat_interleave(HEADS // KEY_HEADS, dim=1).mT * 0.4
    scores = scores if softcap is None else softcap * torch.tanh(scores / softcap)
    scores = scores.masked_fill(~steps.whole(window, torch.device("cpu")), -torch.inf)
    if sink is not None:
        scores = torch.cat([scores, sink.double()[None, :, None, None].expand(1, HEADS, n, 1)], dim=-1)
    weights = scores.softmax(dim=-1)[..., :m]
    expected = weights @ value.double().repeat_interleave(HEADS // KEY_HEADS, dim=1)
    assert (found - expected).abs().max() < CLOSE


@pytest.mark.parametrize("window", [0, 6])
def test_few_masks_are_needed(window: int) -> None:
    """What is as long in all slots and seen whole needs none: kernels are faster without."""
    draw = random.Random(1)
    layout = Layout(20, 5, 30)
    segments = [Segment(i, 10, [draw.randrange(9)]) for i in range(5)]
    shared, ((slots, run),), _ = DecodePass(layout, segments).plan(window, torch.float32, torch.device("cpu"))
    assert slots == slice(0, 5) and (run.mask is None) is (window == 0)
    assert shared is None if window else shared == Tile(slice(None), slice(0, 20))


def test_slots_of_other_lengths_are_compared_apart() -> None:
    """A short answer is not compared with as many keys as a long one has, where that is more than another run costs."""
    layout = Layout(0, 6, 3000)
    segments = [Segment(slot, length, [7]) for slot, length in ((0, 2000), (1, 1900), (2, 100), (3, 90), (5, 95))]
    _, runs, _ = DecodePass(layout, segments).plan(0, torch.float32, torch.device("cpu"))
    assert [(slots, tile.queries, tile.keys) for slots, tile in runs] == [
        (slice(0, 2), slice(0, 2), slice(0, 2001)),
        (slice(2, 4), slice(2, 4), slice(0, 101)),
        (slice(5, 6), slice(4, 5), slice(0, 96)),
    ]
