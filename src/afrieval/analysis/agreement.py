"""Our verdicts on a run's answers beside the published verdicts on the answers that are in the data set."""

from typing import Any, NamedTuple

import numpy as np

from afrieval.analysis.reference import WAYS, Evaluated, by_run, is_other_model, reference_model
from afrieval.report.table import Column, Grid
from afrieval.statistics.significance import Values, mcnemar

LEGEND = (
    "right: both are right; here: the run alone is; Meta: Meta's answer alone is; none: neither. same: verdicts that "
    "agree; diff.: ours minus Meta's, in points; p: exact McNemar test."
)
COLUMNS = [
    Column("task", "id"),
    Column("n", "count"),
    Column("right", "count", "both_right"),
    Column("here", "count", "only_here"),
    Column("Meta", "count", "only_published"),
    Column("none", "count", "both_wrong"),
    Column("same", "percent", "agreement"),
    Column("ours", "percent", "score"),
    Column("Meta's", "percent", "published_score"),
    Column("diff.", "points", "difference"),
    Column("p", "p"),
    Column("metric", "hidden"),
]


class Agreement(NamedTuple):
    """How two verdicts on the same documents go together.

    Attributes:
        right: documents that both have right.
        here: those that the first alone has right.
        there: those that the second alone has right.
        neither: those that both have wrong.
        p: exact McNemar test of the difference.
    """

    right: int
    here: int
    there: int
    neither: int
    p: float

    @property
    def n(self) -> int:
        """All documents."""
        return self.right + self.here + self.there + self.neither

    @property
    def same(self) -> float:
        """The share of documents on which the two agree."""
        return (self.right + self.neither) / self.n


def agreement(ours: Values, published: Values) -> Agreement:
    """Returns how verdicts on the same documents go together.

    Args:
        ours: 0 or 1 for each document, at least one.
        published: the same documents.
    """
    first, second = ours == 1, published == 1
    right, here = int((first & second).sum()), int((first & ~second).sum())
    there = int((~first & second).sum())
    return Agreement(right, here, there, len(ours) - right - here - there, mcnemar(published, ours))


def verdict_grids(found: list[Evaluated]) -> list[Grid]:
    """Returns a table per model and data set, with a row for each task whose data have verdicts."""
    runs = [[each for each in of_run if each.scores.verdicts is not None] for of_run in by_run(found)]
    runs = [of_run for of_run in runs if of_run]
    return [_grid(of_run, legend=of_run is runs[-1]) for of_run in runs]


def _grid(of_run: list[Evaluated], legend: bool) -> Grid:
    first = of_run[0]
    about = {"model": first.model, "evals": first.evals, "samples": first.on_samples}
    title = f"{first.model}: agreement with Meta's verdicts"
    title += f" on {name}" if (name := reference_model(first)) else ""
    notes = [_compared(of_run), *([LEGEND] if legend else [])]
    return Grid("verdicts", title, COLUMNS, [_row(each) for each in of_run], notes, about)


def _compared(of_run: list[Evaluated]) -> str:
    """Returns what the two sides are."""
    first = of_run[0]
    if first.on_samples:
        return "The verdicts of our own sample rows are made up: this table shows its form, and nothing of Meta's."
    other = f"{reference_model(first)}, another model," if is_other_model(first) else "the same model"
    text = f"Ours: {first.model}, its answers in this run, our scoring. Meta's: is_correct in {first.evals}, of {other}"
    strict = " IFEval: prompt, strict." if any(each.scores.main in WAYS for each in of_run) else ""
    return f"{text} with Meta's code and sampling.{strict}"


def _row(each: Evaluated) -> list[Any]:
    scores = each.scores
    assert scores.verdicts is not None
    known = ~np.isnan(scores.verdicts)
    ours, published = scores.values[known], scores.verdicts[known]
    found = agreement(ours, published)
    means = float(ours.mean()), float(published.mean())
    counts = [found.n, found.right, found.here, found.there, found.neither]
    return [scores.task, *counts, found.same, *means, means[0] - means[1], found.p, scores.main]
