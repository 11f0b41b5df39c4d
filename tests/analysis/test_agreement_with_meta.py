"""Agreement with published verdicts: four counts against counting by hand."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from tests.analysis.evaluations import evaluation

from afrieval.analysis.agreement import agreement, verdict_grids
from afrieval.report.table import records

PAIRS = st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=80)


@given(PAIRS)
def test_the_counts_add_up_and_swapping_mirrors_them(pairs: list[tuple[bool, bool]]) -> None:
    ours, published = (np.array([float(pair[side]) for pair in pairs]) for side in (0, 1))
    found, swapped = agreement(ours, published), agreement(published, ours)
    counted = Counter(pairs)
    by_hand = [counted[kind] for kind in ((True, True), (True, False), (False, True), (False, False))]
    assert [found.right, found.here, found.there, found.neither] == by_hand and found.n == len(pairs)
    assert (swapped.right, swapped.here, swapped.there, swapped.neither) == (
        found.right,
        found.there,
        found.here,
        found.neither,
    )
    assert found.same == swapped.same == pytest.approx(sum(a == b for a, b in pairs) / len(pairs))
    assert found.p == swapped.p


def test_a_row_has_both_accuracies_and_the_exact_test() -> None:
    """Rows without a score, or without a verdict, are in no number."""
    scores = [1.0] * 6 + [0.0] * 9 + [1.0, None]
    verdicts = [True] * 5 + [False] + [True] * 7 + [False] * 2 + [None, True]
    (grid,) = verdict_grids([evaluation(scores, verdicts=verdicts)])
    (row,) = records(grid)
    assert [row[k] for k in ("n", "both_right", "only_here", "only_published", "both_wrong")] == [15, 5, 1, 7, 2]
    assert (row["score"], row["published_score"]) == pytest.approx((6 / 15, 12 / 15))
    assert row["difference"] == pytest.approx(-6 / 15) and row["agreement"] == pytest.approx(7 / 15)
    assert row["p"] == pytest.approx(stats.binomtest(1, 8).pvalue)


def test_what_is_compared_is_said() -> None:
    (grid,) = verdict_grids([evaluation([1.0], verdicts=[True], model="meta-llama/Meta-Llama-3.1-8B-Instruct")])
    assert "of the same model" in grid.notes[0] and "meta-llama/Llama-3.1-8B-Instruct-evals" in grid.notes[0]
    (grid,) = verdict_grids([evaluation([1.0], verdicts=[True], model="other/model")])
    assert "other/model" in grid.notes[0] and "of Llama-3.1-8B-Instruct, another model" in grid.notes[0]
    (grid,) = verdict_grids([evaluation([1.0], verdicts=[True], samples=True)])
    assert "made up" in grid.notes[0] and "is_correct" not in grid.notes[0]


def test_tasks_without_verdicts_have_no_row_and_runs_have_a_table_each() -> None:
    assert verdict_grids([evaluation([1.0]), evaluation([None], verdicts=[True])]) == []
    grids = verdict_grids([evaluation([1.0], verdicts=[True], model=model) for model in ("a", "b")])
    assert [g.about["model"] for g in grids] == ["a", "b"]
    assert [len(g.notes) for g in grids] == [1, 2], "the legend stands once"
