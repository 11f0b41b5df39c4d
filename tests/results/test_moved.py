"""What moved between two scores of the same answers, but for how computers round numbers."""

import math

import pytest
from tests.analysis.cells import scored

from afrieval.results.moved import alike, has_moved, moved_documents


def test_documents_move_by_more_than_rounding() -> None:
    before, now = scored([0.25, 0.5, 0.0]), scored([0.25 * (1 + 1e-12), 0.5001, 0.0])
    assert moved_documents(before, now)["acc"].tolist() == [False, True, False]
    assert has_moved(before, now) and not has_moved(before, before)


def test_the_same_measures_under_another_main_metric_moved() -> None:
    assert has_moved(scored([1.0, 0.0]), scored([1.0, 0.0], of="unparsed"))


def test_fewer_documents_moved() -> None:
    assert has_moved(scored([1.0, 1.0]), scored([1.0]))


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ({"a": [1.0, None]}, {"a": (1.0 + 1e-13, None)}, True),
        ({"a": 1.0}, {"a": 1.0, "b": 0}, False),
        ([1.0], [1.0, 1.0], False),
        (math.nan, math.nan, True),
        (1e-40, 2e-40, False),
        ("1", 1, False),
        (-math.inf, -math.inf, True),
    ],
)
def test_values_of_json(one: object, other: object, same: bool) -> None:
    assert alike(one, other) is same
