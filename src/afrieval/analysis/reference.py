"""Tasks with a published evaluation: what was measured, micro and macro, and what was published."""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from afrieval.results.cells import CellScores, cell_scores
from afrieval.results.samples import read_lines
from afrieval.results.units import Unit
from afrieval.scoring.choice import UNREAD
from afrieval.scoring.ifeval.accuracies import ifeval_means, over_prompts
from afrieval.scoring.ifeval.instructions import FOLLOWED
from afrieval.statistics.intervals import Interval
from afrieval.tasks.meta import END, ORGANISATION, llama

UNNAMED = "{evals}"  # how the name of the data set ends where none was chosen


class Evaluated(NamedTuple):
    """A cell of a task with a published evaluation, and its scores."""

    unit: Unit
    scores: CellScores

    @property
    def model(self) -> str:
        """The model that was run."""
        return str(self.unit.dimensions["model"])

    @property
    def evals(self) -> str:
        """The data set."""
        return str(self.unit.declared["evals"])

    @property
    def on_samples(self) -> bool:
        """Whether sample rows of our own stood in for the data set, which they also do if none was named."""
        return bool(self.unit.declared.get("samples")) or self.evals.endswith(UNNAMED)


def has_evals(unit: Unit) -> bool:
    """Tells whether a unit's task has a published evaluation."""
    return bool(unit.declared.get("evals"))


def evaluated(units: Iterable[Unit]) -> list[Evaluated]:
    """Returns the units whose tasks have a published evaluation, with scores read from their sample files."""
    return [Evaluated(u, cell_scores(u.name, list(read_lines(u.path)))) for u in units if has_evals(u) and u.path]


def by_run(found: list[Evaluated]) -> list[list[Evaluated]]:
    """Returns them by model and data set, in order."""
    groups: dict[tuple[str, str], list[Evaluated]] = {}
    for each in found:
        groups.setdefault((each.model, each.evals), []).append(each)
    return list(groups.values())


def reference_model(each: Evaluated) -> str:
    """Returns the model whose answers and scores are published; empty if no data set was chosen."""
    return "" if each.evals.endswith(UNNAMED) else each.evals.removeprefix(ORGANISATION).removesuffix(END)


def is_other_model(each: Evaluated) -> bool:
    """Tells whether the model run is another than the published one."""
    own = llama(each.model)
    return reference_model(each) != (own.name if own else each.model)


class Measured(NamedTuple):
    """A score of a cell.

    Attributes:
        average: micro or macro; None in tasks without parts.
        parts: how many parts a macro average is over.
    """

    metric: str
    score: float
    interval: Interval
    average: str | None = None
    parts: int | None = None


class Published(NamedTuple):
    """A published score, 0 to 1; one that several sources give in the same words stands once."""

    score: float
    average: str | None
    setting: str
    sources: list[str]


def measured(each: Evaluated) -> list[Measured]:
    """Returns a cell's scores, the main one first."""
    scores, macro = each.scores, each.scores.macro
    found = [Measured(scores.main, scores.score, scores.interval, "micro" if macro else None)]
    if macro:
        found.append(Measured(scores.main, macro.score, macro.interval, "macro", macro.parts))
    if means := ifeval_means(scores.metrics):
        for name, values in ({m: scores.values(m) for m in FOLLOWED[1:]} | means).items():
            per_prompt = 1 if name.startswith("prompt") else scores.per_document
            found.append(Measured(name, float(values.mean()), over_prompts(values, per_prompt)))
    return found


def unparsed(each: Evaluated) -> float | None:
    """Returns the share of answers that could not be parsed; None where none was generated."""
    values = each.scores.values(UNREAD)
    return float(np.mean(values)) if len(values) else None


def published(each: Evaluated) -> list[Published]:
    """Returns the published scores of a cell's task."""
    sources: dict[tuple[str | None, str, float], list[str]] = {}
    for row in each.unit.declared.get("published", []):
        sources.setdefault((row["average"], row["setting"], row["score"]), []).append(row["source"])
    return [
        Published(round(score / 100, 6), average, setting, of_score)
        for (average, setting, score), of_score in sources.items()
    ]
