"""Scores of cells as rows of summary.csv and in the harness' results format."""

import math
from collections.abc import Iterable, Mapping
from typing import Any

from afrieval.results.scores import CellScores

PLACE = ("task", "language", "prompt", "prompt_language")
FIRST = (*PLACE, "metric", "score", "standard_error", "low", "high", "n", "n_defect", "selection")
PARTS = ("macro", "parts")
Row = dict[str, Any]


def summary_columns(cells: Iterable[CellScores], others: Iterable[Row] = ()) -> list[str]:
    """Returns the columns of summary.csv: each metric that some cell has, but for scores, which have a column already.

    Derived metrics come last, with all that they are made of before them.

    Args:
        cells: those of our own tasks.
        others: rows of harness tasks.
    """
    names: dict[str, bool] = {}
    derived: dict[str, None] = {}
    for cell in cells:
        derived |= dict.fromkeys(cell.of_derived)
        names |= {name: known.higher_is_better for name, known in cell.metrics.items() if name != cell.main}
    names |= {name: True for row in others for name in row if name not in (*FIRST, *names)}
    plain = sorted((name for name in names if name not in derived), key=lambda name: not names[name])
    return [*FIRST, *plain, *PARTS, *derived]


def summary_row(cell: CellScores) -> Row:
    """Returns a cell's row of summary.csv; a metric that was not measured is empty."""
    row: Row = {column: getattr(cell, column) for column in (*PLACE, "n", "n_defect")} | {
        "selection": cell.selection.kind
    }
    if not cell.n:
        return row
    low, high = cell.interval or ("", "")
    row |= {"metric": cell.main, "score": cell.score, "standard_error": cell.standard_error, "low": low, "high": high}
    row |= {name: cell.on(name).score for name in cell.metrics if name != cell.main or name in cell.of_derived}
    return row | ({"macro": found.score, "parts": found.parts} if (found := cell.macro) else {})


def harness_results(cells: list[CellScores], versions: Mapping[str, int]) -> dict[str, Any]:
    """Returns the harness' results format, with its standard errors filled in.

    Args:
        cells: the run's cells.
        versions: task to version.
    """
    results = {}
    for cell in cells:
        metrics: dict[str, Any] = {"name": cell.name, "alias": cell.name, "sample_len": cell.n}
        for of in map(cell.on, cell.metrics):
            metrics[f"{of.main},none"] = of.score if math.isfinite(of.score) else "N/A"
            metrics[f"{of.main}_stderr,none"] = "N/A" if math.isnan(of.standard_error) else of.standard_error
        results[cell.name] = metrics
    names = [c.name for c in cells]
    return {
        "results": results,
        "group_subtasks": {name: [] for name in names},
        "versions": {c.name: versions[c.task] for c in cells},
        "n-shot": {c.name: c.shots for c in cells},
        "higher_is_better": {c.name: {name: m.higher_is_better for name, m in c.metrics.items()} for c in cells},
        "n-samples": {c.name: {"original": c.selection.of or c.rows, "effective": c.n} for c in cells},
    }
