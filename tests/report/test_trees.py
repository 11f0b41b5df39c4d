"""Parts within parts as a table: indented in every format, and with a column per level for programs."""

import csv
import io

import pytest
from tests.analysis.test_subgroups import CELL, quiz
from tests.report.screen import printed

from afrieval.analysis.subgroups import trees
from afrieval.report import comparison
from afrieval.report.comparison import breakdown_tables, metrics_of, tree_tables
from afrieval.report.formats import html, latex, markdown
from afrieval.report.table import Table
from afrieval.report.values import broken
from afrieval.tasks.declaration.known_facts import PublishedScores


@pytest.fixture(scope="module")
def table() -> Table:
    (found,) = tree_tables(trees([CELL], "subject"), metrics_of([CELL]))
    return found


def test_a_terminal_shows_groups_indented(table: Table) -> None:
    lines = [line.replace("\xa0", " ").rstrip() for line in printed(table).splitlines()]
    assert lines[0] == "quiz: by subject" and lines[1].split(maxsplit=3)[:3] == ["branch,", "area,", "subject"]
    names = [line[:20].rstrip() for line in lines[3:-2] if line]
    assert names == ["micro", "macro, mean of 3", "all", "  science", "    physics", "    maths", "  arts", "    music"]
    assert lines[-2].startswith("micro: all questions have the same weight")


def test_programs_get_a_column_for_each_level(table: Table) -> None:
    rows = list(csv.DictReader(io.StringIO(table.to_csv())))
    assert [(r["average"], r["branch"], r["area"], r["subject"]) for r in rows[:5]] == [
        ("micro", "", "", ""), ("macro", "", "", ""), ("", "all", "", ""), ("", "all", "science", ""),
        ("", "all", "science", "physics"),
    ]  # fmt: skip
    assert float(rows[3]["score"]) == 0.4 and rows[3]["n"] == "5" and float(rows[3]["interval high"]) < 0.8


def test_indentation_survives_in_documents(table: Table) -> None:
    assert "| \xa0\xa0\xa0\xa0physics | 0.0 |" in markdown(table)
    assert ">\xa0\xa0\xa0\xa0physics</td>" in html(table) and "\n~~~~physics & 0.0 &" in latex(table)


def test_languages_stand_in_one_table() -> None:
    cells = [CELL, quiz([1.0, 0.0], [0, 1], language="hau")]
    (table,) = breakdown_tables(cells, "branch", metrics_of(cells))
    assert [row[:2] for row in table.cells()] == [
        ["Yoruba", "micro"], ["Yoruba", "macro, mean of 3"], ["Yoruba", "all"],
        ["Hausa", "micro"], ["Hausa", "macro, mean of 2"], ["Hausa", "all"],
    ]  # fmt: skip
    assert list(table.ends) == [2]


def test_published_scores_stand_next_to_those_of_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    scores = PublishedScores(5, "5-shot, somehow", "a page", 60.0, {"area": {"science": 99.0}}, n=7)
    monkeypatch.setattr(comparison, "published_for", lambda tree, names: {"Them": scores})
    (table,) = tree_tables(trees([CELL], "area"), metrics_of([CELL]))
    rows = [[cell.strip("\xa0") for cell in row] for row in table.cells()]
    assert [[row[0], *row[4:]] for row in rows] == [
        ["micro", "60.0", "-17.1", "yes"], ["macro, mean of 3", "", "", ""], ["all", "", "", ""],
        ["science", "99.0", "-59.0", "no"], ["arts", "", "", ""],
    ]  # fmt: skip
    said = " ".join(table.notes)
    assert "Them: 5-shot, somehow (a page)" in said and "Different here: 0-shot." in said
    assert table.records()[0]["published Them"] == 0.6 and table.records()[0]["in interval Them"] == "yes"


def test_several_published_scores_have_their_names_as_heads(monkeypatch: pytest.MonkeyPatch) -> None:
    both = {name: PublishedScores(0, "0-shot", "a page", 50.0) for name in ("First", "Second")}
    monkeypatch.setattr(comparison, "published_for", lambda tree, names: both)
    (table,) = tree_tables(trees([CELL], "area"), metrics_of([CELL]))
    assert table.heads[4:] == ["First", "Second"] and table.cells()[0][4:] == ["50.0", "50.0"]
    assert table.records()[0]["in interval Second"] == "yes"


def test_a_name_without_room_stays_indented() -> None:
    assert broken("\xa0\xa0high school government", 12) == "\xa0\xa0high\n\xa0\xa0school\n\xa0\xa0government"


def test_models_of_one_language_are_told_apart_by_their_names_alone() -> None:
    cells = [CELL, quiz([1.0, 0.0], [0, 1], model="other")]
    (table,) = breakdown_tables(cells, "branch", metrics_of(cells))
    assert table.heads == ["model", "branch", "score", "95% CI", "n"]
