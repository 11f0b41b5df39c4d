"""Tasks with a published evaluation: what was measured, micro and macro, and what was published."""

from collections.abc import Iterable
from typing import NamedTuple

from afrieval.grouping import grouped
from afrieval.results.scores import CellScores
from afrieval.scoring.labels import NOT_PARSED
from afrieval.statistics.intervals import Interval
from afrieval.tasks.meta import END, ORGANISATION, llama

UNNAMED = "{evals}"  # how the name of the data set ends where none was chosen


def on_samples(cell: CellScores) -> bool:
    """Tells whether sample rows of our own stood in for the data set, which they also do if none was named."""
    return cell.own_rows or bool(cell.declared.get("samples")) or cell.declared["evals"].endswith(UNNAMED)


def has_evals(cell: CellScores) -> bool:
    """Tells whether a cell's task has a published evaluation."""
    return bool(cell.declared.get("evals"))


def evaluated(cells: Iterable[CellScores]) -> list[CellScores]:
    """Returns the cells whose tasks have a published evaluation."""
    return [cell for cell in cells if has_evals(cell)]


def by_run(found: list[CellScores]) -> list[list[CellScores]]:
    """Returns them by model and data set, in order."""
    return list(grouped(found, lambda each: (each.model, each.declared["evals"])).values())


def reference_model(each: CellScores) -> str:
    """Returns the model whose answers and scores are published; empty if no data set was chosen."""
    evals = each.declared["evals"]
    return "" if evals.endswith(UNNAMED) else evals.removeprefix(ORGANISATION).removesuffix(END)


def is_other_model(each: CellScores) -> bool:
    """Tells whether the model run is another than the published one."""
    own = llama(each.model)
    return reference_model(each) != (own.name if own else each.model)


class Measured(NamedTuple):
    """A score of a cell.

    Attributes:
        n: documents that have the metric.
        average: micro or macro; None in tasks without parts.
        parts: how many parts a macro average is over.
    """

    metric: str
    score: float
    interval: Interval | None
    n: int
    average: str | None = None
    parts: int | None = None


class Published(NamedTuple):
    """A published score, 0 to 1; one that several sources give in the same words stands once."""

    score: float
    average: str | None
    setting: str
    sources: list[str]


def measured(each: CellScores) -> list[Measured]:
    """Returns a cell's scores, the main one first; derived metrics follow what they are made of."""
    macro = each.macro
    found = [Measured(each.main, each.score, each.interval, each.n, "micro" if macro else None)]
    if macro:
        found.append(Measured(each.main, macro.score, macro.interval, each.n, "macro", macro.parts))
    for of in (each.on(name) for name in each.of_derived if name != each.main):
        found.append(Measured(of.main, of.score, of.interval, of.n))
    return found


def unparsed(each: CellScores) -> float | None:
    """Returns the share of answers that could not be parsed; None where none was generated."""
    return each.on(NOT_PARSED).score if NOT_PARSED in each.metrics else None


def published(each: CellScores) -> list[Published]:
    """Returns the published scores of a cell's task."""
    rows = each.declared.get("published", [])
    sources = grouped(rows, lambda row: (row["average"], row["setting"], row["score"]))
    return [
        Published(round(score / 100, 6), average, setting, [row["source"] for row in of_score])
        for (average, setting, score), of_score in sources.items()
    ]
