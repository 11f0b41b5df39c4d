"""Averages over the tasks of a suite, and its derived metrics, as tables."""

import json
from dataclasses import replace
from typing import Any

from tests.report.screen import printed

from afrieval.analysis.suites import AveragedTask, SuiteAverage
from afrieval.report.formats import write
from afrieval.report.suite_tables import derived_tables, suite_tables
from afrieval.results.cell_scores import CellScores
from afrieval.run.suites.derived_scores import DerivedScore
from afrieval.run.suites.reference import PublishedScore
from afrieval.scoring.statistics.intervals import Interval

WIDE = Interval(25.0, 75.0)
SIDE = {"prompt_language": "eng", "prompt_set": "suite", "model": "m", "shots": 0, "answer_form": ""}


def part(task: str, group: str = "", **changes: Any) -> AveragedTask:
    given: dict[str, Any] = {
        "metric": "acc", "weight": 0.5, "languages": ["hau", "yor"], "score": 50.0, "interval": WIDE, "apart": {},
    } | changes  # fmt: skip
    return AveragedTask(group or task, task, **given)


def average(*parts: AveragedTask, side: dict[str, Any] | None = None, **changes: Any) -> SuiteAverage:
    return SuiteAverage("lite", SIDE | (side or {}), list(parts), 45.0, WIDE, **changes)


def test_a_row_for_each_task_and_one_for_the_average() -> None:
    (table,) = suite_tables([average(part("tweets", apart={"eng": 90.0}), part("news", metric="chrf", interval=None))])
    assert table.title == "Average of lite" and table.cells() == [
        ["tweets", "English", "acc", "50.0", "25.0-75.0", "2", "90.0"],
        ["news", "English", "chrf", "50.0", "none", "2", ""],
        ["average", "English", "", "45.0", "25.0-75.0", "2", ""],
    ]
    assert "fra" in table.records()[0] and "French" not in table.heads  # a column only where the language ran
    assert table.records()[2]["members"] == ["hau", "yor"] and "Languages: Hausa and Yoruba." in table.notes


def test_groups_are_named_where_they_have_several_tasks_and_models_where_there_are_several() -> None:
    parts = part("tweets", "mood"), part("films", "mood", prompt=2), part("news", "translation")
    (table,) = suite_tables([average(*parts), average(*parts, side={"model": "n", "prompt_language": "native"})])
    assert table.cells()[1][:4] == ["mood", "films", "m", "English 2"]
    assert table.cells()[-1][:4] == ["", "average", "n", "native"]
    assert max(map(len, printed(table).splitlines())) <= 80


def test_an_average_over_some_tasks_only_says_so() -> None:
    (table,) = suite_tables([average(part("tweets"), part("news"), missing=["films"], outside=["loss"])])
    notes = " ".join(table.notes)
    assert "over 2 of 4 tasks" in notes and "Without scores: films." in notes and "maximum: loss." in notes


def test_how_it_is_averaged_is_said() -> None:
    (ours,), (theirs,) = (suite_tables([average(part("a"), part("b"))], rule) for rule in ("suite", "afrobench"))
    assert "tasks in a group" in " ".join(ours.legend) and "AfroBench" in " ".join(theirs.legend)


def test_one_task_has_no_table() -> None:
    assert suite_tables([average(part("tweets"))]) == [] == suite_tables([])


def cell(prompt: int) -> CellScores:
    return CellScores("forget", "eng", prompt, "eng", name=f"forget_eng_eng_{prompt}")


QUALITY = DerivedScore("forget_quality", "ks_test", "m", {"forget": cell(1)}, ["retain"], 1.1e-19, n=300)
UTILITY = DerivedScore("model_utility", "harmonic_mean", "m", {"forget": cell(1)}, [], 0.63, Interval(0.6, 0.65), 400)
ABSENT = DerivedScore("privleak", "privleak", "m", {"forget": cell(1)}, ["retain"], reason="it needs --reference x=RUN")


def test_tiny_numbers_stay_visible_and_absent_ones_have_a_reason() -> None:
    (table,) = derived_tables("tofu", [QUALITY, UTILITY, ABSENT])
    assert table.heads == ["metric", "score", "95% CI", "n", "needs"] and table.title == "tofu"
    assert table.cells() == [
        ["forget quality", "1.10e-19", "", "300", "retain"],
        ["model utility", "0.6300", "0.600-0.650", "400", ""],
        ["PrivLeak", "", "", "", "retain"],
    ]
    assert table.findings == ["Without a score: PrivLeak: it needs --reference x=RUN."]
    (whole,) = json.loads(write([table], "json"))
    assert [row["score"] for row in whole["rows"]] == [1.1e-19, 0.63, None]
    assert whole["rows"][2]["reason"] == "it needs --reference x=RUN"
    assert "1.1e-19" in write([table], "csv")
    for form in ("markdown", "latex"):
        assert "1.10e-19" in write([table], form)


def test_several_models_and_prompts_have_columns_and_published_scores_follow_theirs() -> None:
    other = DerivedScore("forget_quality", "ks_test", "n", {"forget": cell(2)}, ["retain"], 0.5, n=300, notes=["so"])
    published = PublishedScore("forget_quality", "m NPO", 0.4, "somebody: somehow")
    (table,) = derived_tables("tofu", [QUALITY, UTILITY, other], [published])
    assert table.heads[:3] == ["metric", "model", "prompt"]
    assert [row[:2] for row in table.cells()] == [
        ["forget quality", "m"],
        ["forget quality", "n"],
        ["forget quality", "m NPO"],
        ["model utility", "m"],
    ]
    assert table.dimmed == [2]
    said = ["forget quality: so.", "Shares and probabilities are between 0 and 1, not in percent."]
    assert table.notes == [*said, "Published scores are those of somebody: somehow."]


def test_names_are_in_words() -> None:
    names = ["mia_min_k_plus_plus", "mia_min_k", "forget_rouge", "my_score"]
    (table,) = derived_tables("tofu", [replace(UTILITY, name=name) for name in names])
    assert [row[0] for row in table.cells()] == ["MIA Min-K%++", "MIA Min-K%", "forget ROUGE", "my score"]
    assert [row["metric"] for row in table.records()] == names
