"""How much is computed at a time follows from the model and from the memory that is free."""

import math
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from tests.models.engine.asked import shared_requests, tree
from tests.models.shapes import decoder, loaded

from afrieval.models.engine.memory_estimate import Bytes
from afrieval.models.engine.packs import PACK, SCORED_BYTES, SHARE, SLOTS, SMALLEST, Packs
from afrieval.models.engine.requests import EngineError


def pack_bytes(lm: Any, room: int, size: int, scored: int, asked: int) -> Bytes:
    return {lm.device: 4096 * (room + size)}


def generated_bytes(lm: Any, rows: int, longest: int, written: int) -> Bytes:
    return {lm.device: 1024 * rows * longest}


def slots_bytes(lm: Any, shared: int, slots: int, own: int, size: int) -> Bytes:
    return {lm.device: 1024 * (shared + slots * own)}


@pytest.fixture(autouse=True)
def _sums_in_place_of_estimates(monkeypatch: pytest.MonkeyPatch) -> None:
    """Estimates take seconds; test_memory_estimate.py compares them with what is allocated."""
    for estimate in (pack_bytes, generated_bytes, slots_bytes):
        monkeypatch.setattr(f"afrieval.models.engine.packs.{estimate.__name__}", estimate)


def with_free_memory(monkeypatch: pytest.MonkeyPatch, free: int) -> None:
    monkeypatch.setattr("afrieval.models.engine.packs.free_memory", lambda device: free)


def test_packs_are_as_small_as_memory_wants(monkeypatch: pytest.MonkeyPatch) -> None:
    lm, sizes = loaded(decoder("llama")), list[int]()
    for free in (0, 2**20, 2**40):
        with_free_memory(monkeypatch, free)
        sizes.append(size := Packs().size(lm, 100))
        assert size == SMALLEST or pack_bytes(lm, 100 + size, size, size, size)[lm.device] <= free
    assert sizes == sorted(sizes) and sizes[0] == SMALLEST and sizes[-1] == PACK["cpu"] and len(set(sizes)) > 2


def test_a_longer_sequence_leaves_less_for_a_pack(monkeypatch: pytest.MonkeyPatch) -> None:
    lm = loaded(decoder("llama"))
    size = PACK["cpu"]
    with_free_memory(monkeypatch, int(2 * pack_bytes(lm, 200 + size, size, size, size)[lm.device]))
    assert Packs().size(lm, 9000) < Packs().size(lm, 100) == size


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
    with pytest.raises(EngineError, match="too small"):
        packs.reduce(SMALLEST, 50)


def test_fewer_answers_are_generated_where_memory_is_small(monkeypatch: pytest.MonkeyPatch) -> None:
    lm = loaded(decoder("llama"), max_batch_size=8)
    ways: list[tuple[Callable[[int], Bytes], Callable[[], int]]] = [
        (lambda n: generated_bytes(lm, n, 100, 1), lambda: Packs().rows(lm, 100)),
        (lambda n: slots_bytes(lm, 50, n, 70, SMALLEST), lambda: Packs().slots(lm, 50, 70)),
    ]
    for needed, found in ways:
        numbers = []
        for free in (0, needed(4)[lm.device] / SHARE, 2**40):
            with_free_memory(monkeypatch, math.ceil(free))
            numbers.append(found())
        assert numbers == [1, 4, 8]
    assert Packs().slots(loaded(decoder("llama")), 50, 70) == SLOTS["cpu"], "more take longer"


def test_logits_are_few_where_the_vocabulary_is_large() -> None:
    def model(vocabulary: int) -> Any:
        config = SimpleNamespace(vocab_size=vocabulary)
        config.get_text_config = lambda decoder: config
        return SimpleNamespace(device=torch.device("cpu"), model=SimpleNamespace(config=config, dtype=torch.float32))

    counts = [Packs().scored(model(n)) for n in (259, 32_000, 256_000, 10**9)]
    assert counts == sorted(counts, reverse=True) and counts[-1] == 1
    assert counts[2] * 256_000 * 4 <= SCORED_BYTES["cpu"] and counts[2] > PACK["cpu"] / 2


def test_a_pack_has_no_more_scored_tokens_than_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    lm, requests, rows = loaded(decoder("gemma2")), shared_requests(), list[int]()
    expected = tree(lm, requests)
    lm.model.lm_head.register_forward_hook(lambda module, args, out: rows.append(out.shape[1]))
    monkeypatch.setattr(Packs, "scored", lambda packs, lm: 5)
    found = tree(lm, requests)
    assert max(rows) == 5
    assert [v for v, *_ in found] == pytest.approx([v for v, *_ in expected], abs=1e-4)


def test_an_estimate_serves_all_lengths_that_round_to_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    lm, packs, estimated = loaded(decoder("llama")), Packs(), list[int]()

    def counted(*args: Any) -> Bytes:
        estimated.append(args[1])
        return pack_bytes(*args)

    monkeypatch.setattr("afrieval.models.engine.packs.pack_bytes", counted)
    monkeypatch.setattr("afrieval.models.engine.packs.at_most", lambda *args: math.inf)
    with_free_memory(monkeypatch, 2**40)
    assert {packs.size(lm, longest) for longest in (300, 400, 512)} == {PACK["cpu"]}
    assert estimated == [512 + PACK["cpu"]]
