"""Arrays that are alike are one; others are not mixed up."""

import gc

import numpy as np
import pytest

from afrieval.results import cell_scores as module
from afrieval.results.cell_scores import shared


def test_arrays_that_are_alike_are_one() -> None:
    one, other = shared(np.array([1, 2])), shared(np.array([1, 2]))
    assert one is other and not one.flags.writeable


@pytest.mark.parametrize(
    "other", [np.array([1, 3]), np.array([1.0, 2.0]), np.array([[1, 2]]), np.array([1, 2], np.int32)]
)
def test_others_are_not(other: np.ndarray) -> None:
    assert shared(other) is not shared(np.array([1, 2])) and shared(other).dtype == other.dtype


def test_arrays_whose_hashes_are_the_same_are_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "hash", lambda _: 0, raising=False)
    one, other = shared(np.array([1, 2])), shared(np.array([5, 6]))
    assert one.tolist() == [1, 2] and other.tolist() == [5, 6]


def test_nothing_is_kept_that_nobody_uses() -> None:
    kept = shared(np.arange(1_000)[10:20])
    assert kept.base is None
    before = len(module._known)
    del kept
    gc.collect()
    assert len(module._known) < before
