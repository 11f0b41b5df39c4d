"""Scores before and after answers were scored again, by language and prompt language."""

import pytest
from tests.analysis.cells import scored

from afrieval.analysis.score_changes import moves


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
