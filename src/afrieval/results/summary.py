"""The row of scores of a cell: each column declared once, for summary.csv, results.json and other programs' tables."""

import math
from collections.abc import Callable, Iterable, Mapping
from operator import attrgetter
from typing import Any

from afrieval.results.cell_scores import CellScores
from afrieval.results.document_columns import DescribedColumn, Row
from afrieval.scoring.labels import GUESSED, NOT_PARSED, REFUSED


def _scored(name: str) -> Callable[[CellScores], Any]:
    """Returns what reads an attribute that only cells with a scored document have."""
    return lambda cell: getattr(cell, name) if cell.n else None


def _end(index: int) -> Callable[[CellScores], float | None]:
    return lambda cell: cell.interval[index] if cell.n and cell.interval else None


def _share(metric: str) -> Callable[[CellScores], float | None]:
    return lambda cell: cell.with_metric(metric).score if metric in cell.metrics else None


def _matching(name: str) -> Callable[[CellScores], Any]:
    """Returns what reads a setting that has to match in a comparison."""
    return lambda cell: cell.comparable_on[name]


def _recorded(name: str) -> Callable[[CellScores], Any]:
    return lambda cell: cell.recorded_settings.get(name)


_LOOKS = (
    "how many looks at a [growing sample](statistics.md#samples-that-grow) the interval holds for together; "
    "1 if it did not grow"
)
ScoreColumn = DescribedColumn[CellScores]
KEY = [
    ScoreColumn("model", "text", "name of the model"),
    ScoreColumn("task", "text", "name of the task"),
    ScoreColumn("language", "text", "ISO 639-3"),
    ScoreColumn("prompt_language", "text", "`eng` or `native`"),
    ScoreColumn("prompt", "text", "its number, or such as `paper3`"),
    ScoreColumn("shots", "whole", "number of few-shot examples"),
    ScoreColumn("answer_form", "text", "`text`, `letter` or `generate`"),
]
SCORE = [
    ScoreColumn("score", "number", "score, on the scale of the metric: shares are from 0 to 1", _scored("score")),
    ScoreColumn(
        "standard_error", "number", "its standard error; empty if the metric has none", _scored("standard_error")
    ),
    ScoreColumn("low", "number", "lower end of the 95 % interval; empty if the metric has none", _end(0)),
    ScoreColumn("high", "number", "upper end of the interval", _end(1)),
    ScoreColumn("n", "whole", "documents with a score"),
    ScoreColumn("looks", "whole", _LOOKS),
]
METRIC = ScoreColumn("metric", "text", "main metric of the task", _scored("main"))
CELL = [
    ScoreColumn("rows", "whole", "all documents of the run"),
    ScoreColumn(
        "selection",
        "text",
        "`all`, the `first` rows (`--limit`) or a `sample` (`--sample`)",
        attrgetter("selection.kind"),
    ),
    ScoreColumn(
        "sample_rows",
        "truth",
        "whether the rows are the suite's own, written by hand, and not the data set's",
        attrgetter("own_rows"),
    ),
    ScoreColumn("test_set", "whole", "rows of the test set", lambda cell: cell.selection.test_set or None),
    ScoreColumn("n_defect", "whole", "documents with a known defect"),
    ScoreColumn("chance", "number", "expected score of guesses; empty where nothing can be guessed"),
    ScoreColumn(NOT_PARSED, "number", "share of answers that could not be parsed, if measured", _share(NOT_PARSED)),
    ScoreColumn(REFUSED, "number", "share of answers that were refused, if measured", _share(REFUSED)),
    ScoreColumn(GUESSED, "number", "share of answers that were guessed, if measured", _share(GUESSED)),
    ScoreColumn("data_set", "text", "data set on the hub", lambda cell: cell.data_set or None),
    ScoreColumn("data_hash", "text", "hash of the evaluated file", _matching("data")),
    ScoreColumn("prompt_hash", "text", "hash of the template", _matching("prompt text")),
    ScoreColumn("task_version", "whole", "version of the task file", _matching("task version")),
    ScoreColumn("variant", "text", "`direct` or `translate`", _matching("variant")),
    ScoreColumn("fewshot_selection", "text", "how examples were chosen, if any", _matching("few-shot selection")),
    ScoreColumn("fewshot_seed", "whole", "seed of their choice", _matching("few-shot seed")),
    ScoreColumn("max_gen_toks", "whole", "limit of generated answers, if one was given", _matching("limit of answers")),
    ScoreColumn("chat_template", "truth", "whether the model's chat template was used", _recorded("chat_template")),
    ScoreColumn("dtype", "text", "type of the model's weights", _recorded("dtype")),
    ScoreColumn("suite", "text", "suite that was run", lambda cell: cell.suite or None),
]
DESCRIBED = {column.name: column for column in (*KEY, METRIC, *SCORE, *CELL)}
FIRST = (
    *("task", "language", "prompt", "prompt_language", "metric"),
    *("score", "standard_error", "low", "high", "n", "n_defect", "selection", "looks"),
)


def summary_columns(cells: Iterable[CellScores], others: Iterable[Row] = ()) -> list[str]:
    """Returns the columns of summary.csv: each metric that some cell has, but for scores, which have a column already.

    Derived metrics come last, with all that they are made of before them.
    """
    names: dict[str, bool] = {}
    derived: dict[str, None] = {}
    for cell in cells:
        derived |= dict.fromkeys(cell.of_derived)
        names |= {name: known.higher_is_better for name, known in cell.metrics.items() if name != cell.main}
    names |= {name: True for row in others for name in row if name not in (*FIRST, *names)}
    plain = sorted((name for name in names if name not in derived), key=lambda name: not names[name])
    return [*FIRST, *plain, "macro", "parts", *derived]


def summary_row(cell: CellScores) -> Row:
    """Returns a cell's row of summary.csv; a metric that was not measured is empty."""
    row: Row = {name: DESCRIBED[name].of(cell) for name in FIRST}
    if not cell.n:
        return row
    row |= {name: cell.with_metric(name).score for name in cell.metrics if name != cell.main or name in cell.of_derived}
    return row | ({"macro": over_parts.value, "parts": over_parts.n} if (over_parts := cell.macro) else {})


def harness_results(cells: list[CellScores], versions: Mapping[str, int]) -> dict[str, Any]:
    """Returns the harness' results format, with its standard errors filled in."""
    results = {}
    for cell in cells:
        metrics: dict[str, Any] = {"name": cell.name, "alias": cell.name, "sample_len": cell.n}
        for scored in map(cell.with_metric, cell.metrics):
            metrics[f"{scored.main},none"] = scored.score if math.isfinite(scored.score) else "N/A"
            metrics[f"{scored.main}_stderr,none"] = (
                "N/A" if math.isnan(scored.standard_error) else scored.standard_error
            )
        results[cell.name] = metrics
    names = [c.name for c in cells]
    return {
        "results": results,
        "group_subtasks": {name: [] for name in names},
        "versions": {c.name: versions[c.task] for c in cells},
        "n-shot": {c.name: c.shots for c in cells},
        "higher_is_better": {c.name: {name: m.higher_is_better for name, m in c.metrics.items()} for c in cells},
        "n-samples": {c.name: {"original": c.selection.test_set or c.rows, "effective": c.n} for c in cells},
    }
