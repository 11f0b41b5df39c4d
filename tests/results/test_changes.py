"""What moved between two scores of the same answers, but for how computers round numbers."""

import math
from dataclasses import replace

import numpy as np
import pytest
from tests.analysis.cells import scored

from afrieval.results.changes import alike, has_moved, moved_documents, moves
from afrieval.results.document_columns import Labels
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


def test_scores_are_means_over_prompts_and_documents_are_counted() -> None:
    one = (scored([0.0, 0.0, 1.0]), scored([1.0, 0.0, 0.0]))
    two = (scored([0.0, 1.0], prompt=2), scored([1.0, 1.0], prompt=2))
    (move,) = moves([two, one])
    assert (move.language, move.prompts, move.metric.name) == ("yor", [1, 2], "acc")
    assert [move.before, move.after] == pytest.approx([(1 / 3 + 1 / 2) / 2, (1 / 3 + 1) / 2])
    assert (move.n, move.up, move.down) == (5, 2, 1)


def test_what_did_not_move_is_left_out() -> None:
    assert not moves([(scored([0.0, 1.0]), scored([0.0, 1.0]))])


def test_documents_may_move_and_the_score_stay() -> None:
    (move,) = moves([(scored([0.0, 1.0]), scored([1.0, 0.0]))])
    assert (move.before, move.after, move.up, move.down) == (0.5, 0.5, 1, 1)


def test_a_metric_other_than_a_mean_of_documents() -> None:
    """The counts of both documents change; one by itself is better, and the other as good as before."""
    before = scored([[1, 1, 1, 0], [2, 0, 0, 0]], of="span_f1")
    now = scored([[2, 0, 0, 0], [4, 0, 0, 0]], of="span_f1")
    (move,) = moves([(before, now)])
    assert (move.before, move.after) == (0.75, 1.0) and (move.up, move.down) == (1, 0)


def test_metrics_that_were_added_or_are_gone() -> None:
    found = moves([(scored([1.0]), scored([0.5], of="exact_match"))])
    assert [(move.metric.name, move.before, move.after, move.up) for move in found] == [
        ("exact_match", None, 0.5, 0),
        ("acc", 1.0, None, 0),
    ]


def test_sets_of_prompts_stay_apart() -> None:
    pairs = [(scored([0.0], prompt=p), scored([1.0], prompt=p)) for p in (2, "paper1", 1)]
    assert [move.prompts for move in moves(pairs)] == [[1, 2], ["paper1"]]
