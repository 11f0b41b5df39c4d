"""Marks for languages whose data has a known defect as a whole."""

from collections.abc import Iterable, Mapping
from dataclasses import replace

from afrieval.languages import LANGUAGES
from afrieval.report.scores import DEFECTIVE
from afrieval.report.table import Table
from afrieval.results.scores import CellScores

APART = "left out of means and of comparisons between languages"


def defects_of(cells: Iterable[CellScores]) -> dict[str, str]:
    """Returns the languages of cells whose data has a known defect as a whole, with that defect."""
    return {cell.language: cell.defect for cell in cells if cell.defect}


def marked(table: Table, defects: Mapping[str, str]) -> Table:
    """Returns a table in which the languages with a defect have a mark, and a note says why.

    Args:
        table: a table about one task.
        defects: language to defect.
    """
    places = [at for at, column in enumerate(table.columns) if column.form == "language"]
    shown = {table.about.get("language"), *(row[at] for row in table.rows for at in places)}
    here = [code for code in defects if code in shown]
    marks = {**table.marks, **{code: f"{table.marks.get(code, '')}{DEFECTIVE}" for code in here}}
    return replace(table, marks=marks, notes=[*table.notes, *(note_on(code, defects[code]) for code in here)])


def without(table: Table, defects: Mapping[str, str]) -> Table:
    """Returns a table of means with a note on each African language that is left out of them."""
    african = [code for code in defects if LANGUAGES[code].african]
    notes = [f"Left out: {LANGUAGES[code].name}, known defect of its data: {defects[code]}." for code in african]
    return replace(table, notes=[*table.notes, *notes])


def note_on(code: str, defect: str) -> str:
    """Returns a note on a language whose data has a known defect as a whole."""
    return f"{DEFECTIVE}: {LANGUAGES[code].name}, known defect of its data: {defect}; {APART}."
