"""How much is computed at a time follows from the model and from the memory that is free."""

from types import SimpleNamespace
from typing import Any

import pytest
import torch
from tests.models.engine.asked import shared_requests, tree
from tests.models.shapes import SUPPORTED, decoder, loaded

from afrieval.errors import UserError
from afrieval.models.engine import memory
from afrieval.models.engine.buffer_cache import BufferCache
from afrieval.models.engine.memory import PACK, SMALLEST, Packs, needed


@pytest.mark.parametrize(
    "more",
    [
        {"num_hidden_layers": 3},
        {"hidden_size": 64},
        {"intermediate_size": 96},
        {"num_key_value_heads": 4},
        {"attention": "eager"},
        {"head_dim": 16},
    ],
    ids=lambda more: next(iter(more)),
)
def test_larger_models_need_more(more: dict[str, Any]) -> None:
    assert needed(decoder("llama", **more), 100, 50) > needed(decoder("llama"), 100, 50)


def test_longer_sequences_larger_packs_and_wider_numbers_need_more() -> None:
    model = decoder("llama")
    least = needed(model, 100, 50)
    assert needed(model, 101, 50) > least and needed(model, 100, 51) > least
    assert needed(model.double(), 100, 50) == 2 * least


def cache_of(name: str, monkeypatch: pytest.MonkeyPatch) -> BufferCache:
    made, make = list[BufferCache](), BufferCache.__init__

    def init(self: BufferCache, layers: int, room: int) -> None:
        made.append(self)
        make(self, layers, room)

    monkeypatch.setattr(BufferCache, "__init__", init)
    lm = loaded(decoder(name))
    lm.choose_engine("tree")
    tree(lm, shared_requests(), 16)
    return made[-1]


LESS = ("falcon", "gemma3n", "gemma4")  # one key for all heads; layers that share a cache; layers of two sizes


@pytest.mark.parametrize("name", SUPPORTED)
def test_the_cache_takes_what_was_counted(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    cache = cache_of(name, monkeypatch)
    taken = sum(
        buffer.nbytes for layer in cache.layers if layer.is_initialized for buffer in (layer.keys, layer.values)
    )
    model = decoder(name)
    pack, longest = 16, cache.room - 16
    full = needed(model, longest, pack)
    model.config.num_hidden_layers *= 2
    counted = needed(model, longest, pack) - full
    assert taken < counted if name in LESS else taken == counted


def test_a_model_that_does_not_tell_its_size_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(*args: Any) -> int:
        raise TypeError("no such setting")

    monkeypatch.setattr(memory, "needed", unknown)
    with pytest.raises(UserError, match="raises TypeError"):
        loaded(decoder("llama")).choose_engine("tree")


def with_free_memory(monkeypatch: pytest.MonkeyPatch, free: int) -> None:
    monkeypatch.setattr(memory, "free_memory", lambda device: free)


def test_packs_are_as_small_as_memory_wants(monkeypatch: pytest.MonkeyPatch) -> None:
    lm, sizes = loaded(decoder("llama")), list[int]()
    for free in (0, 2**19, 2**20, 2**21, 2**40):
        with_free_memory(monkeypatch, free)
        sizes.append(Packs().size(lm, 100))
        assert sizes[-1] == SMALLEST or needed(lm.model, 100, sizes[-1]) <= free
    assert sizes == sorted(sizes) and sizes[0] == SMALLEST and sizes[-1] == PACK["cpu"] and len(set(sizes)) > 2


def test_a_longer_sequence_leaves_less_for_a_pack(monkeypatch: pytest.MonkeyPatch) -> None:
    lm = loaded(decoder("llama"))
    with_free_memory(monkeypatch, 2**21)
    assert Packs().size(lm, 3000) < Packs().size(lm, 100)


def test_a_size_that_is_given_is_the_most(monkeypatch: pytest.MonkeyPatch) -> None:
    lm = loaded(decoder("llama"))
    with_free_memory(monkeypatch, 2**40)
    assert Packs(100).size(lm, 50) == 100
    with_free_memory(monkeypatch, 0)
    assert Packs(100).size(lm, 50) <= SMALLEST


def test_halves_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    lm, packs = loaded(decoder("llama")), Packs()
    with_free_memory(monkeypatch, 2**40)
    assert packs.reduce(100, 100) == 50 == packs.size(lm, 10)
    assert packs.reduce(20, 50) == 10 and packs.size(lm, 10) == 50, "the rest of a cell says nothing of the next"
    with pytest.raises(UserError, match="too small"):
        packs.reduce(SMALLEST, 50)


def test_fewer_rows_are_generated_where_memory_is_small(monkeypatch: pytest.MonkeyPatch) -> None:
    lm, rows = loaded(decoder("llama"), max_batch_size=48), list[int]()
    for free in (0, 2**21, 2**22, 2**40):
        with_free_memory(monkeypatch, free)
        rows.append(Packs().rows(lm, 100))
    assert rows == sorted(rows) and rows[0] == 1 and rows[-1] == 48 and len(set(rows)) > 2


def test_logits_are_few_where_the_vocabulary_is_large() -> None:
    def model(vocabulary: int) -> Any:
        config = SimpleNamespace(vocab_size=vocabulary)
        config.get_text_config = lambda decoder: config
        return SimpleNamespace(device=torch.device("cpu"), model=SimpleNamespace(config=config, dtype=torch.float32))

    counts = [Packs().scored(model(n)) for n in (259, 32_000, 256_000, 10**9)]
    assert counts == sorted(counts, reverse=True) and counts[-1] == 1
    assert counts[2] * 256_000 * 4 <= memory.SCORED_BYTES["cpu"] and counts[2] > PACK["cpu"] / 2


def test_a_pack_has_no_more_scored_tokens_than_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    lm, requests, rows = loaded(decoder("gemma2")), shared_requests(), list[int]()
    expected = tree(lm, requests)
    lm.model.lm_head.register_forward_hook(lambda module, args, out: rows.append(out.shape[1]))
    monkeypatch.setattr(Packs, "scored", lambda packs, lm: 5)
    found = tree(lm, requests)
    assert max(rows) == 5
    assert [v for v, *_ in found] == pytest.approx([v for v, *_ in expected], abs=1e-4)
