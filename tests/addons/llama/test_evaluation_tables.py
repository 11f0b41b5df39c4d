"""Tables of published evaluations: scores next to those of runs, and verdicts on the same questions."""

from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from tests.addons.llama.evaluations import EVALS, evaluation
from tests.report.screen import printed
from tests.results.test_cell_scores import LOOSE, STRICT, sample

from afrieval.addons.llama.evaluation_tables import agreement, reference_tables, verdict_tables
from afrieval.report.formats import legend_of, markdown
from afrieval.report.table import Table
from afrieval.results.cell_scores import CellScores
from afrieval.results.sample_columns import cell_scores
from afrieval.scoring.statistics.intervals import wilson

MICRO = {"score": 47.0, "average": "micro", "setting": "5-shot CoT, Meta's own code", "source": "a README"}
MACRO = MICRO | {"score": 48.3, "average": "macro", "source": "a card"}


def reference(*found: CellScores) -> Table:
    (table,) = reference_tables(list(found))
    return table


def test_micro_and_macro_are_told_apart_and_so_are_measured_and_published() -> None:
    table = reference(evaluation([1.0, 1.0, 1.0, 0.0], parts="aaab", published=[MICRO, MACRO], rows=4))
    rows = [(r["kind"], r["average"], r["score"], r["parts"]) for r in table.records()]
    assert rows == [
        ("measured", "micro", 0.75, None),
        ("measured", "macro", 0.5, 2),
        ("published", "micro", 0.47, None),
        ("published", "macro", 0.483, None),
    ]
    assert table.records()[0]["interval"] == tuple(wilson(3, 4)) and list(table.dimmed) == [2, 3]
    text = printed(table)
    assert EVALS.partition("/")[2] in text.splitlines()[0] and "Fewer rows" not in text
    for words in (["meta_x", "acc,", "micro", "75.0"], ["mean", "of", "2", "subtasks", "acc,", "macro", "50.0"]):
        assert any(line.split()[: len(words)] == words for line in text.splitlines())
    assert len([line for line in text.splitlines() if line.startswith("published: 5-shot")]) == 2
    assert "published: 5-shot CoT, Meta's own code | macro | 48.3" in markdown(table)
    assert "\x1b[2m" in printed(table, color=True)


def test_an_average_that_nobody_stated_is_not_taken_for_micro() -> None:
    table = reference(evaluation([1.0], parts="a", published=[MICRO | {"average": None}]))
    assert table.records()[-1]["average"] is None and "not stated" in printed(table)


def test_one_score_of_two_sources_stands_once_and_two_scores_name_theirs() -> None:
    again, other = MICRO | {"source": "a card"}, MICRO | {"score": 46.0, "source": "a later card"}
    table = reference(evaluation([1.0], published=[MICRO, again]))
    assert [r["source"] for r in table.records()][1:] == ["a README; a card"] and "a README" not in printed(table)
    table = reference(evaluation([1.0], published=[MICRO, other]))
    assert "(a README)" in markdown(table) and "(a later card)" in markdown(table)


def test_fewer_rows_and_another_model_are_said() -> None:
    text = " ".join(printed(reference(evaluation([1.0, None], published=[MICRO], rows=448))).split())
    assert "so do not compare: meta_x 2 of 448." in text and "of Llama-3.1-8B-Instruct, not of m," in text
    same = evaluation([1.0], published=[MICRO], model="meta-llama/Llama-3.1-8B-Instruct")
    assert ", not of" not in printed(reference(same))


def test_sample_rows_are_not_taken_for_metas() -> None:
    assert reference(evaluation([1.0], sample_rows={"eng": True})).title.endswith("-evals, our own sample rows: m")
    unnamed = evaluation([1.0], evals="meta-llama/{evals}", sample_rows={"eng": True})
    assert reference(unnamed).title == "our own sample rows: m"


def test_ifeval_has_four_accuracies_and_two_means_and_says_whose_they_are() -> None:
    cell = cell_scores("c", [sample(i, *both) for i, both in enumerate(zip(STRICT, LOOSE, strict=True))])
    table = reference(replace(cell, declared={"evals": EVALS}))
    scores = {r["metric"]: r["score"] for r in table.records()}
    assert list(scores.values()) == pytest.approx([0.5, 0.75, 0.625, 0.75, 0.5625, 0.65625])
    text = markdown(table)
    assert "as in Meta's recipe for lm-eval | ifeval\\_recipe\\_mean | 56.2" in text
    assert "as in Meta's model cards | ifeval\\_meta\\_mean | 65.6" in text


def test_each_metric_has_the_number_of_its_own_documents() -> None:
    cell = cell_scores("c", [sample(i, *both) for i, both in enumerate(zip(STRICT, LOOSE, strict=True))])
    last = list(cell.metrics)[-1]
    measures = {name: values.copy() for name, values in cell.measures.items()}
    measures[last][0] = np.nan
    table = reference(replace(cell, measures=measures, declared={"evals": EVALS}))
    counts = {r["metric"]: r["n"] for r in table.records()}
    assert counts[last] == cell.n - 1 and counts[cell.main] == cell.n


@pytest.mark.parametrize("size", [5, 12032])
def test_the_table_fits_80_columns(size: int) -> None:
    names = ("meta_mmlu_pro_instruct", "meta_mmlu_pro_pretrain")
    told: dict[str, Any] = {"published": [MICRO, MACRO], "rows": 12032, "model": "meta-llama/Llama-3.1-405B-Instruct"}
    text = printed(reference(*(evaluation([1.0] * size, parts="ab" * size, task=name, **told) for name in names)))
    assert max(map(len, text.splitlines())) <= 80 and "…" not in text
    assert all(name in text for name in names)


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
    assert len(legend_of(tables)) == 1


PAIRS = st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=80)


@settings(max_examples=30)
@given(PAIRS)
def test_the_counts_add_up_and_swapping_mirrors_them(pairs: list[tuple[bool, bool]]) -> None:
    ours, published = (np.array([float(pair[side]) for pair in pairs]) for side in (0, 1))
    found, swapped = agreement(ours, published), agreement(published, ours)
    counted = Counter(pairs)
    by_hand = [counted[kind] for kind in ((True, True), (True, False), (False, True), (False, False))]
    counts = ("both_right", "only_here", "only_published", "both_wrong")
    assert [found[name] for name in counts] == by_hand and found["n"] == len(pairs)
    assert [swapped[name] for name in counts] == [by_hand[at] for at in (0, 2, 1, 3)]
    assert found["agreement"] == swapped["agreement"] == pytest.approx(sum(a == b for a, b in pairs) / len(pairs))
    assert found["p"] == swapped["p"]
    scores = ("score", "published_score")
    assert [found[name] for name in scores] == [swapped[name] for name in reversed(scores)]
    assert [found[name] for name in scores] == pytest.approx([ours.mean(), published.mean()])
