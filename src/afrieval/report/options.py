"""Titles of tables name the options of an extractor that a run has switched, since scores depend on them."""

from collections.abc import Iterable, Mapping
from dataclasses import replace

from afrieval.report.table import Table
from afrieval.results.scores import CellScores


def naming_options(tables: Iterable[Table], cells: Iterable[CellScores]) -> list[Table]:
    """Returns tables whose titles name the switched options of their task.

    Args:
        tables: of tasks.
        cells: those that the tables are about.
    """
    options = {c.task: shown_options(switched) for c in cells if (switched := c.declared.get("extract"))}
    return [replace(t, title=", ".join([t.title, *filter(None, [options.get(t.about["task"])])])) for t in tables]


def shown_options(options: Mapping[str, bool]) -> str:
    """Returns options for people: the names of those that are on, and `no NAME` for the others."""
    return ", ".join(name if on else f"no {name}" for name, on in options.items())
