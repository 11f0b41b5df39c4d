"""Tasks with a published evaluation: what was measured, what was published, and verdicts on the same answers."""

from typing import NamedTuple

import numpy as np

from afrieval._util.grouping import grouped
from afrieval.results.cell_scores import CellScores
from afrieval.scoring.labels import NOT_PARSED
from afrieval.scoring.statistics.intervals import Interval
from afrieval.scoring.statistics.tests import Values, bonferroni, mcnemar
from afrieval.tasks.declaration.meta import END, ORGANISATION, llama

UNNAMED = "{evals}"  # how the name of the data set ends where none was chosen


def has_evals(cell: CellScores) -> bool:
    """Tells whether a cell's task has a published evaluation."""
    return bool(cell.declared.get("evals"))


def by_run(cells: list[CellScores]) -> list[list[CellScores]]:
    """Returns cells by model and published data set, in order."""
    return list(grouped(cells, lambda each: (each.model, each.declared["evals"])).values())


def reference_model(each: CellScores) -> str:
    """Returns the model whose answers and scores are published; empty if no data set was chosen."""
    evals = each.declared["evals"]
    return "" if evals.endswith(UNNAMED) else evals.removeprefix(ORGANISATION).removesuffix(END)


def is_other_model(each: CellScores) -> bool:
    """Tells whether the model run is another than the published one."""
    recipe = llama(each.model)
    return reference_model(each) != (recipe.name if recipe else each.model)


class EvaluationScore(NamedTuple):
    """A score of a task, 0 to 1: measured, or published with all sources that give it in the same words.

    Attributes:
        average: micro or macro; None in tasks without parts, and where it is not stated.
        metric: empty if it is published.
        n: documents that have the metric; 0 if it is published.
        parts: how many parts a macro average is over.
    """

    score: float
    average: str | None
    metric: str = ""
    interval: Interval | None = None
    n: int = 0
    parts: int | None = None
    setting: str = ""
    sources: tuple[str, ...] = ()


def measured(each: CellScores) -> list[EvaluationScore]:
    """Returns a cell's scores, the main one first; derived metrics follow what they are made of."""
    macro = each.macro
    scores = [EvaluationScore(each.score, "micro" if macro else None, each.main, each.interval, each.n)]
    if macro:
        scores.append(EvaluationScore(macro.value, "macro", each.main, macro.interval, each.n, macro.n))
    for scored in (each.with_metric(name) for name in each.of_derived if name != each.main):
        scores.append(EvaluationScore(scored.score, None, scored.main, scored.interval, scored.n))
    return scores


def unparsed(each: CellScores) -> float | None:
    """Returns the share of answers that could not be parsed; None where none was generated."""
    return each.with_metric(NOT_PARSED).score if NOT_PARSED in each.metrics else None


def published(each: CellScores) -> list[EvaluationScore]:
    """Returns the published scores of a cell's task."""
    rows = each.declared.get("published", [])
    sources = grouped(rows, lambda row: (row["average"], row["setting"], row["score"]))
    return [
        EvaluationScore(
            round(score / 100, 6), average, setting=setting, sources=tuple(row["source"] for row in of_score)
        )
        for (average, setting, score), of_score in sources.items()
    ]


class VerdictAgreement(NamedTuple):
    """How often two verdicts on a document agree.

    Attributes:
        right: documents that both have right.
        first_only: those that the first alone has right.
        second_only: those that the second alone has right.
        neither: those that both have wrong.
        p: exact McNemar test of the difference.
    """

    right: int
    first_only: int
    second_only: int
    neither: int
    p: float

    @property
    def n(self) -> int:
        """All documents."""
        return self.right + self.first_only + self.second_only + self.neither

    @property
    def same(self) -> float:
        """The share of documents on which the two agree."""
        return (self.right + self.neither) / self.n

    @property
    def scores(self) -> tuple[float, float]:
        """The shares that the first and the second have right."""
        return (self.right + self.first_only) / self.n, (self.right + self.second_only) / self.n


def agreement(ours: Values, published: Values, looks: int = 1) -> VerdictAgreement:
    """Returns how often two verdicts agree on documents; p is for all looks at a growing sample."""
    right, first_only, second_only, neither = (
        int((((ours == 1) == one) & ((published == 1) == other)).sum())
        for one, other in ((True, True), (True, False), (False, True), (False, False))
    )
    return VerdictAgreement(
        right, first_only, second_only, neither, bonferroni(mcnemar(first_only, second_only), looks)
    )


def verdicts(each: CellScores) -> VerdictAgreement | None:
    """Returns how often a cell's scores agree with the published verdicts; None if no document has both."""
    both = ~np.isnan(each.verdicts)
    return agreement(each.values[both], each.verdicts[both], each.looks) if both.any() else None
