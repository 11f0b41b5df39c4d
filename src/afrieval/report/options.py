"""Titles of tables name the options of a task, those of its extractor that a run has switched, and which rows ran."""

from collections.abc import Iterable, Mapping
from dataclasses import replace

from afrieval.report.table import Table
from afrieval.results.scores import CellScores
from afrieval.results.selection import words


def naming_options(tables: Iterable[Table], cells: Iterable[CellScores]) -> list[Table]:
    """Returns tables whose titles name the options of their task, since scores depend on them.

    Args:
        tables: of tasks.
        cells: those that the tables are about.
    """
    options = {
        c.task: [*c.declared.get("options", {}).values(), *filter(None, [shown_options(c.declared.get("extract", {}))])]
        for c in cells
    }
    return [replace(t, title=", ".join([t.title, *options.get(t.about["task"], [])])) for t in tables]


def naming_rows(tables: Iterable[Table], cells: Iterable[CellScores]) -> list[Table]:
    """Returns tables whose titles and records say which rows of the test sets they are of, if not of all.

    Args:
        tables: of one task or several.
        cells: those that the tables are about.
    """
    every = list(cells)
    return [_naming_rows(table, [cell for cell in every if _is_about(table, cell)]) for table in tables]


def _naming_rows(table: Table, cells: list[CellScores]) -> Table:
    said = words(cell.selection for cell in cells)
    if not said:
        return table
    return replace(table, title=f"{table.title}, {said}", about={**table.about, "selection": said})


def _is_about(table: Table, cell: CellScores) -> bool:
    """Returns whether a table is about a cell, as far as it says what it is about."""
    own, about = {"task": cell.task, **cell.dimensions}, table.about
    sides = (about["first"], about["second"]) if "first" in about else ()
    return all(own[name] == about[name] for name in own if name in about) and (
        not sides or own[about["dimension"]] in sides
    )


def shown_options(options: Mapping[str, bool]) -> str:
    """Returns options for people: the names of those that are on, and `no NAME` for the others."""
    return ", ".join(name if on else f"no {name}" for name, on in options.items())
