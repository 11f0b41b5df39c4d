"""The table of a suite: tasks, averages, and what it says of them."""

from typing import Any

from tests.report.screen import printed

from afrieval.analysis.suites import AveragedTask, SuiteAverage
from afrieval.report.suite_tables import suite_tables
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
    assert table.records()[2]["members"] == ["hau", "yor"] and "Languages: hau yor." in table.notes


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
    assert "tasks in a group" in " ".join(ours.notes) and "AfroBench" in " ".join(theirs.notes)


def test_one_task_has_no_table() -> None:
    assert suite_tables([average(part("tweets"))]) == [] == suite_tables([])
