"""Titles of tables name the options of a task, and those of its extractor that a run has switched."""

from collections.abc import Iterable, Mapping
from dataclasses import replace

from afrieval.report.table import Table
from afrieval.results.scores import CellScores


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


def shown_options(options: Mapping[str, bool]) -> str:
    """Returns options for people: the names of those that are on, and `no NAME` for the others."""
    return ", ".join(name if on else f"no {name}" for name, on in options.items())
