"""Agreement with published verdicts as tables."""

from typing import Any

from afrieval.analysis.agreement import Agreement, verdicts
from afrieval.analysis.reference import by_run, is_other_model, on_samples, reference_model
from afrieval.report.table import Column, Table
from afrieval.results.scores import CellScores
from afrieval.scoring.ifeval.instructions import FOLLOWED
from afrieval.scoring.labels import label

LEGEND = (
    "both, ours, Meta, none: how many answers are right on both sides, on one alone, on neither; same: verdicts that "
    "agree, in percent; diff.: our score minus Meta's, in percentage points; p: exact McNemar test."
)
COLUMNS = [
    Column("task"),
    Column("n", "count"),
    Column("both", "count", "both_right"),
    Column("ours", "count", "only_here"),
    Column("Meta", "count", "only_published"),
    Column("none", "count", "both_wrong"),
    Column("same", "score", "agreement"),
    Column("score", "score"),
    Column("Meta's", "score", "published_score"),
    Column("diff.", "change", "difference"),
    Column("p", "p"),
    Column("metric", "hidden"),
]


def verdict_tables(found: list[CellScores]) -> list[Table]:
    """Returns a table per model and data set, with a row for each task whose data have verdicts."""
    with_verdicts = [[(each, v) for each in of_run if (v := verdicts(each))] for of_run in by_run(found)]
    runs = [of_run for of_run in with_verdicts if of_run]
    return [_table(of_run, legend=of_run is runs[-1]) for of_run in runs]


def _table(of_run: list[tuple[CellScores, Agreement]], legend: bool) -> Table:
    cells = [each for each, _ in of_run]
    first = cells[0]
    about = {"model": first.model, "evals": first.declared["evals"], "samples": on_samples(first)}
    title = f"{first.model}: agreement with Meta's verdicts"
    title += f" on {name}" if (name := reference_model(first)) else ""
    notes = [_compared(cells), *([LEGEND] if legend else [])]
    return Table("verdicts", title, COLUMNS, [_row(*row) for row in of_run], notes, about=about)


def _compared(cells: list[CellScores]) -> str:
    """Returns what the two sides are."""
    first = cells[0]
    if on_samples(first):
        return "The verdicts of our own sample rows are made up: this table shows its form, and nothing of Meta's."
    other = f"{reference_model(first)}, another model," if is_other_model(first) else "the same model"
    text = f"Ours: {first.model}, its answers in this run, our scoring. "
    text += f"Meta's: is_correct in {first.declared['evals']}, of {other}"
    strict = [f" IFEval: {label(e.main)}." for e in cells if e.main in FOLLOWED]
    return f"{text} with Meta's code and sampling.{''.join(strict[:1])}"


def _row(each: CellScores, found: Agreement) -> list[Any]:
    ours, published = found.scores
    counts = [found.n, found.right, found.here, found.there, found.neither]
    return [each.task, *counts, found.same, ours, published, ours - published, found.p, each.main]
