"""Agreement with published verdicts as tables."""

import pytest
from scipy import stats
from tests.analysis.evaluations import evaluation

from afrieval.report.published_tables import verdict_tables


def test_a_row_has_both_accuracies_and_the_exact_test() -> None:
    """Rows without a score, or without a verdict, are in no number."""
    scores = [1.0] * 6 + [0.0] * 9 + [1.0, None]
    verdicts = [True] * 5 + [False] + [True] * 7 + [False] * 2 + [None, True]
    (table,) = verdict_tables([evaluation(scores, verdicts=verdicts)])
    (row,) = table.records()
    assert [row[k] for k in ("n", "both_right", "only_here", "only_published", "both_wrong")] == [15, 5, 1, 7, 2]
    assert (row["score"], row["published_score"]) == pytest.approx((6 / 15, 12 / 15))
    assert row["difference"] == pytest.approx(-6 / 15) and row["agreement"] == pytest.approx(7 / 15)
    assert row["p"] == pytest.approx(stats.binomtest(1, 8).pvalue)


def test_what_is_compared_is_said() -> None:
    (table,) = verdict_tables([evaluation([1.0], verdicts=[True], model="meta-llama/Meta-Llama-3.1-8B-Instruct")])
    assert "of the same model" in table.notes[0] and "meta-llama/Llama-3.1-8B-Instruct-evals" in table.notes[0]
    (table,) = verdict_tables([evaluation([1.0], verdicts=[True], model="other/model")])
    assert "other/model" in table.notes[0] and "of Llama-3.1-8B-Instruct, another model" in table.notes[0]
    (table,) = verdict_tables([evaluation([1.0], verdicts=[True], sample_rows={"eng": True})])
    assert "made up" in table.notes[0] and "is_correct" not in table.notes[0]


def test_tasks_without_verdicts_have_no_row_and_runs_have_a_table_each() -> None:
    assert verdict_tables([evaluation([1.0]), evaluation([None], verdicts=[True])]) == []
    tables = verdict_tables([evaluation([1.0], verdicts=[True], model=model) for model in ("a", "b")])
    assert [t.about["model"] for t in tables] == ["a", "b"]
    assert [len(t.notes) for t in tables] == [1, 2], "the legend stands once"
