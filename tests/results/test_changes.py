"""What moved between two scores of the same answers, but for how computers round numbers."""

import math
from dataclasses import replace

import numpy as np
import pytest
from tests.analysis.cells import scored

from afrieval.results.changes import alike, has_moved, moved_documents
from afrieval.results.document_scores import Labels
from afrieval.scoring.metrics import metric


def test_documents_move_by_more_than_rounding() -> None:
    before, now = scored([0.25, 0.5, 0.0]), scored([0.25 * (1 + 1e-12), 0.5001, 0.0])
    assert moved_documents(before, now)["acc"].tolist() == [False, True, False]
    assert has_moved(before, now) and not has_moved(before, before)


def test_the_same_measures_under_another_main_metric_moved() -> None:
    assert has_moved(scored([1.0, 0.0]), scored([1.0, 0.0], of="unparsed"))


def test_fewer_documents_moved() -> None:
    assert has_moved(scored([1.0, 1.0]), scored([1.0]))


def test_a_metric_that_is_gone_moved_and_one_that_was_added_did_not() -> None:
    one = scored([1.0, 0.0])
    metrics = {**one.metrics, "empty": metric("empty")}
    two = replace(one, metrics=metrics, measures={**one.measures, "empty": np.zeros((2, 1))})
    assert has_moved(two, one) and not has_moved(one, two)


def test_other_parts_move_the_mean_over_parts() -> None:
    whole = scored([1.0, 0.0])
    before, now = (replace(whole, parts=Labels(np.array(codes), ("a", "b"))) for codes in ([0, 1], [1, 0]))
    assert has_moved(before, now) and has_moved(before, whole)
    assert not has_moved(before, before) and not has_moved(whole, before)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ({"a": [1.0, None]}, {"a": (1.0 + 1e-13, None)}, True), ({"a": 1.0}, {"a": 1.0, "b": 0}, False),
        ([1.0], [1.0, 1.0], False), (math.nan, math.nan, True), (1e-40, 2e-40, False), ("1", 1, False),
        (-math.inf, -math.inf, True),
    ],
)  # fmt: skip
def test_values_of_json(one: object, other: object, same: bool) -> None:
    assert alike(one, other) is same
