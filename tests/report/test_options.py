"""Titles of tables name switched options of an extractor."""

from afrieval.report.columns import Column
from afrieval.report.score_tables import naming_options, shown_options
from afrieval.report.table import Table
from afrieval.results.cell_scores import CellScores
from afrieval.results.schema import Declared


def _cell(task: str, extract: dict[str, bool]) -> CellScores:
    declared = Declared(extract=extract) if extract else Declared()
    return CellScores(task, task, "eng", "eng", 1, declared=declared)


def test_options_are_named_in_the_titles_of_their_task() -> None:
    tables = [Table("scores", f"{task}: scores", [Column("n")], [[1]], about={"task": task}) for task in ("one", "two")]
    cells = [_cell("one", {"lone": True, "bare": False}), _cell("two", {})]
    assert [table.title for table in naming_options(tables, cells)] == ["one: scores, lone, no bare", "two: scores"]


def test_options_in_words() -> None:
    assert shown_options({}) == ""
    assert shown_options({"lone": True, "guess": False}) == "lone, no guess"


def test_options_of_tasks_are_named_too() -> None:
    cell = CellScores("one", "one", "eng", "eng", 1, declared=Declared(options={"part": "part10", "key": "question"}))
    table = Table("scores", "one: scores", [Column("n")], [[1]], about={"task": "one"})
    assert [t.title for t in naming_options([table], [cell])] == ["one: scores, part10, question"]
