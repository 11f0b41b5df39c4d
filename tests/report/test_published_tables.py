"""Published scores and evaluations, alone and next to those of runs."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy import stats
from tests.analysis.cells import scored
from tests.analysis.evaluations import EVALS, evaluation
from tests.report.screen import printed
from tests.results.test_cell_scores import LOOSE, STRICT, sample

from afrieval.analysis.published_files import PublishedRow
from afrieval.report.formats import legend_of, markdown
from afrieval.report.published_tables import OTHER_PROMPTS, published_tables, reference_tables, verdict_tables
from afrieval.report.table import Table
from afrieval.results.cell_scores import CellScores
from afrieval.results.sample_columns import cell_scores
from afrieval.scoring.metrics import metric
from afrieval.scoring.statistics.intervals import wilson

ROWS = [
    PublishedRow("afrimmlu", "big", "1", 0, {"eng": 90.0, "yor": 60.0, "hau": 40.0}, 50.0, 2),
    PublishedRow("afrimmlu", "big", "2", 0, {"eng": 90.0, "yor": 30.0, "hau": 30.0}, 33.0, 3),
]
INCONSISTENT = "Inconsistent: big, prompt 2, prints an average of 33.0; the mean of its scores is 30.0."


def test_the_best_mean_is_first_and_all_are_over_the_same_languages() -> None:
    units = [scored([1.0, 0.0], task="afrimmlu", language=code, prompt=n) for code in ("yor", "hau") for n in (1, 2)]
    units += [scored([1.0], task="afrimmlu", language="swa")]
    (table,) = published_tables([u for u in units if u.language != "swa"], ROWS)
    assert table.cells() == [["m", "run", "0", "2", "50.0", "50.0"], ["big", "published", "0", "2", "50.0", "40.0"]]
    assert table.notes[0] == "Means over the 2 languages that all of them have: Hausa and Yoruba."
    assert table.notes[-1] == INCONSISTENT


def test_a_table_alone_has_the_averages_that_it_prints() -> None:
    standing, averages = published_tables([], ROWS)
    assert standing.kind == "standing" and averages.title == "afrimmlu: published averages"
    assert averages.cells() == [["big", "1", "2", "50.0", "50.0"], ["big", "2", "2", "30.0", "33.0"]]
    assert averages.notes[-1] == INCONSISTENT
    assert published_tables([], ROWS[:1])[1].notes[-1] == "All printed averages agree with it to 0.1."


def test_notes_say_nothing_about_what_is_not_there() -> None:
    row = PublishedRow("afrixnli", "big", "1", 0, {"yor": 60.0, "hau": 40.0}, None, 0)
    standing, averages = published_tables([], [row])
    assert not any("Lingala" in note or "agree" in note for note in [*standing.notes, *averages.notes])


def test_published_scores_that_share_no_language_with_a_run_are_shown_alone_and_the_reason_is_said() -> None:
    (table,) = published_tables([scored([1.0], task="afrimmlu", language="swa")], ROWS)
    assert table.kind == "published" and len(table.rows) == 2
    assert table.notes[-1].startswith("The runs of this task, with Swahili, are not shown here: no African language")
    (table,) = published_tables([], [PublishedRow("afrimmlu", "b", "1", 0, {"eng": 9}, None, 2)])
    assert table.rows == [] and table.notes[-1] == "Not shown: 1 of 1 rows, which have no other language."


def test_models_that_lack_some_of_the_languages_are_named() -> None:
    rows = [*ROWS, PublishedRow("afrimmlu", "parts", "1", 0, {"yor": 1.0}, None, 4)]
    rows += [PublishedRow("afrimmlu", "parts", "2", 0, {"hau": 1.0}, None, 5)]
    standing, _ = published_tables([], rows)
    assert len(standing.rows) == 1
    assert "Not shown, since no English prompt of theirs has all of these languages: parts." in standing.notes


def test_runs_with_prompts_of_the_paper_are_next_to_published_scores_of_the_same_prompt() -> None:
    def unit(language: str, prompt: int | str, values: list[float]) -> CellScores:
        return scored(values, task="afrimmlu", language=language, prompt=prompt)

    units = [unit(code, "paper2", [1.0, 0.0]) for code in ("yor", "hau")]
    units += [unit(code, "paper2_uncleaned", [0.0, 0.0]) for code in ("yor", "hau")]
    units += [unit(code, n, [1.0, 1.0]) for code in ("yor", "hau") for n in (1, 2)]
    standing, same = published_tables(units, ROWS)
    assert [row[:2] for row in standing.cells()] == [
        ["m", "run"], ["m", "run, paper"], ["big", "published"], ["m", "run, paper uncleaned"]
    ]  # fmt: skip
    assert OTHER_PROMPTS in standing.notes
    assert same.cells() == [
        ["2", "m", "run, paper", "0", "50.0"],
        ["2", "big", "published", "0", "30.0"],
        ["2", "m", "run, paper uncleaned", "0", "0.0"],
    ]


def test_numbers_of_the_suite_are_not_those_of_published_scores() -> None:
    of_suite = [scored([1.0], task="afrimmlu", language=code, prompt=1) for code in ("yor", "hau")]
    assert [table.kind for table in published_tables(of_suite, ROWS)] == ["standing"]
    of_other = [scored([1.0], task="afrimmlu", language=code, prompt="paper3") for code in ("yor", "hau")]
    assert [table.kind for table in published_tables(of_other, ROWS)] == ["standing"]


def test_scores_are_those_that_were_published() -> None:
    """AfroBench's table of SIB-200 has weighted F1: 6.43 is that of a model that always says travel."""
    f1 = metric({"name": "f1", "average": "weighted"})
    measures = {"acc": np.array([[1.0], [0.0]]), "f1_weighted": np.array([[0.0, 0.0], [1.0, 0.0]])}
    unit = scored([1.0, 0.0], task="sib200", metrics={"acc": metric("acc"), "f1_weighted": f1}, measures=measures)
    rows = [PublishedRow("sib200", "big", "1", 0, {"yor": 60.0}, None, 2)]
    (table,) = published_tables([unit], rows)
    assert [row[-1] for row in table.cells()] == ["60.0", "33.3"]
    assert table.notes[-1] == "Scores are f1_weighted, as published."
    table, alone = published_tables([scored([1.0], task="sib200", prompt_language="eng")], rows)
    assert "they lack f1_weighted" in alone.notes[-1]
    assert [row[0] for row in table.cells()] == ["big"], "cells without the metric are left out"


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
