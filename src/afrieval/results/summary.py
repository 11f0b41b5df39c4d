"""Scores of cells as rows of summary.csv, and the requests, tokens and seconds of each session of a run."""

import math
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, NamedTuple, NotRequired

from annotated_types import Ge

from afrieval._util.grouping import grouped
from afrieval._util.schema import OpenMap, validated
from afrieval.results.cell_scores import CellScores
from afrieval.results.document_columns import Row
from afrieval.results.run_files import RUN
from afrieval.results.schema import Index, RunRecord
from afrieval.results.score_row import CELL, KEY, METRIC, SCORE
from afrieval.scoring.labels import TOO_LONG
from afrieval.scoring.responses import LOCAL, is_cut

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


TOKENS = ("prompt_tokens", "cached_tokens", "completion_tokens", "reasoning_tokens")
LETTERS = ("letters", "missing_letters", "no_letter")  # of the most likely first tokens
COUNTS = ("answers", "requests", *TOKENS, "unknown", "cut_off", "refused", TOO_LONG, *LETTERS)
COLUMNS = ("task", "language", *COUNTS, "cost")
MOST = 10**15  # of anything that an answer may take; servers of old runs were believed


def usage_of(details: Mapping[str, Any]) -> dict[str, float]:
    """Returns what one answer took, by names of `COUNTS`, and its cost if prices were known; empty if nothing says.

    Of models that are no servers, it is only known whether an answer ended at its limit.
    """
    if details.keys() <= LOCAL:
        return {"cut_off": 1} if is_cut(details) else {}

    def is_amount(value: Any) -> bool:
        return type(value) in (int, float) and 0 <= value < MOST

    amounts = {name: details[name] for name in ("requests", *TOKENS, *LETTERS, "cost") if is_amount(details.get(name))}
    counted = {
        "no_letter": details.get("missing_letters") == details.get("letters", -1),
        "unknown": TOKENS[0] not in amounts,
        "cut_off": is_cut(details),
        "refused": bool(details.get("refused")),
        TOO_LONG: details.get("finish_reason") == TOO_LONG,
    }
    return {"answers": 1, **amounts, **{name: int(counts) for name, counts in counted.items()}}


def usage_rows(cells: Iterable[CellScores]) -> list[Row]:
    """Returns rows of usage.csv: sums per task and language; empty if no answer has details.

    A cost is empty where prices were not known for all answers.
    """
    counted = [cell for cell in cells if cell.usage.get("answers")]
    rows = []
    for (task, language), members in grouped(counted, lambda cell: (cell.task, cell.language)).items():
        counts = {name: int(sum(cell.usage.get(name, 0) for cell in members)) for name in COUNTS}
        priced = all("cost" in cell.usage for cell in members)
        cost = round(sum(cell.usage["cost"] for cell in members), 10) if priced else None
        rows.append({"task": task, "language": language, **counts, "cost": cost})
    return rows


class RequestAmount(OpenMap):
    """What requests of a kind took, as `models.work.Amount` has it; what is 0 is left out."""

    requests: Index
    seconds: Annotated[float, Ge(0)]
    plain: NotRequired[Index]
    computed: NotRequired[Index]
    written: NotRequired[Index]
    most: NotRequired[Index]


class _Visit(OpenMap):
    """The parts of a session that say on which machine it ran, and its requests, tokens and seconds."""

    date: NotRequired[str]
    dtype: NotRequired[str]
    engine: NotRequired[str | None]
    device_name: NotRequired[str | None]
    processes: NotRequired[Index]
    work: NotRequired[dict[str, RequestAmount]]


class VisitWork(NamedTuple):
    """What the answers of one kind took in a session.

    Attributes:
        kind: `likelihoods` or `answers`.
    """

    date: str
    dtype: str
    engine: str | None
    device_name: str | None
    processes: int
    kind: str
    amount: RequestAmount


def works(record: RunRecord, folder: Path) -> Iterator[VisitWork]:
    """Yields what each session took, the first session first."""
    for stored in record.get("visits", []):
        where = {name: of for name, of in stored.items() if name in _Visit.__annotations__}
        visit = validated(_Visit, where, str(folder / RUN), "remove `work` from its visits")
        circumstances = visit.get("date", ""), visit.get("dtype", ""), visit.get("engine"), visit.get("device_name")
        for kind, amount in visit.get("work", {}).items():
            yield VisitWork(*circumstances, visit.get("processes", 1), kind, amount)
