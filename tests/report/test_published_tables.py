"""Published scores, alone and next to those of runs."""

import numpy as np
from tests.analysis.cells import scored

from afrieval.analysis.published_files import PublishedRow
from afrieval.report.published_tables import OTHER_PROMPTS, published_tables
from afrieval.results.cell_scores import CellScores
from afrieval.scoring.metrics import metric

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
