"""What may be concluded of scores: that a side is better, or the best, only if it is above all that do not read.

A model whose answers depend on the length of the text, or that always gives the same one, may well be "better" with
prompts in one language than in another: the difference is real, but nothing was read. So the better side must also be
above chance and above the baselines of its data, by the lower end of its interval at the level of the comparison. Both
must hold for a verdict, so it is wrong no more often than the test alone (Berger 1982, "Multiparameter Hypothesis
Testing and Acceptance Sampling").
"""

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from afrieval.analysis.scores import Average, averaged
from afrieval.grouping import grouped
from afrieval.results.scores import CellScores
from afrieval.statistics.intervals import Interval
from afrieval.statistics.significance import LEVEL

CHANCE, CONSTANT, SEVERAL = "chance", "majority", "several"
BALANCED, PLAIN = "balanced", "acc"  # how baselines name the accuracy over classes, and that over documents
NEARLY_ALL = 0.9


class Floor(NamedTuple):
    """What a model gets without reading.

    Attributes:
        name: `chance`, or the baseline's; `several` for a mean of different ones.
        score: on the scale of the metric.
    """

    name: str
    score: float


class OneAnswer(NamedTuple):
    """A cell in which nearly all answers are the same.

    Attributes:
        answer: place of the choice, from 0.
        share: of the documents.
    """

    cell: CellScores
    answer: int
    share: float


def floor(average: Average) -> Floor | None:
    """Returns the highest score that is known to take no reading; None if none is known."""
    first, known = average.cells[0], _of_baselines(average)
    if is_accuracy(average.cells[0]):
        counts = np.unique(first.golds, return_counts=True)[1]
        known[CHANCE] = 1 / len(counts) if average.balanced else first.chance
        known[CONSTANT] = max(known.get(CONSTANT, 0.0), 0.0 if average.balanced else float(counts.max() / first.n))
    found = [Floor(name, score) for name, score in known.items() if not math.isnan(score)]
    return max(found, key=lambda each: each.score, default=None)


def is_accuracy(cell: CellScores) -> bool:
    """Returns whether a cell's score is the share of documents for which the right choice was taken."""
    metric = cell.metric
    of_shares = metric.is_mean and metric.bounds == (0.0, 1.0) and metric.higher_is_better
    return of_shares and cell.n > 0 and bool((cell.n_choices > 0).all() and (cell.golds >= 0).all())


def _of_baselines(average: Average) -> dict[str, float]:
    wanted = (
        [BALANCED] if average.balanced else [average.metric.name, *([PLAIN] if is_accuracy(average.cells[0]) else [])]
    )
    found: dict[str, float] = {}
    for name, of_metrics in average.cells[0].baselines.items():
        scores = [of_metrics[metric] for metric in wanted if metric in of_metrics]
        found |= {name: scores[0]} if scores else {}
    return found


def not_above(average: Average, level: float = LEVEL) -> Floor | None:
    """Returns the highest score without reading, if an average is not above it beyond chance; else None.

    Args:
        average: of one language.
        level: of the interval whose lower end must be higher.
    """
    highest = floor(average) if average.metric.higher_is_better else None
    interval = average.interval_at(level) if highest else None
    return highest if highest and (interval is None or interval.low <= highest.score) else None


def better_not_above(first: Average, second: Average, level: float) -> Floor | None:
    """Returns the same for the better one of two sides of a comparison."""
    return not_above(max(first, second, key=lambda side: side.score), level)


def mean_not_above(cells: Iterable[CellScores], interval: Interval | None) -> Floor | None:
    """Returns the same for a mean over languages, whose floor is the mean of theirs.

    Args:
        cells: of one task and side.
        interval: of the mean.
    """
    averages = [averaged(of) for of in grouped(cells, lambda cell: cell.language).values()]
    floors = [floor(average) if average.metric.higher_is_better else None for average in averages]
    return under_mean(floors, interval)


def under_mean(floors: Sequence[Floor | None], interval: Interval | None) -> Floor | None:
    """Returns the mean of floors if a mean of scores is not above it; None if it is, or any floor is unknown.

    Args:
        floors: of what is averaged over.
        interval: of the mean, on the same scale.
    """
    known = [each for each in floors if each]
    if len(known) < len(floors) or not known or interval is None:
        return None
    score, names = float(np.mean([each.score for each in known])), {each.name for each in known}
    return Floor(names.pop() if len(names) == 1 else SEVERAL, score) if interval.low <= score else None


def one_answer(cells: Iterable[CellScores]) -> list[OneAnswer]:
    """Returns the cells in which nearly all answers are the same, of those whose right answers are not."""
    found = []
    for cell in cells:
        answers, counts = np.unique(cell.picked, return_counts=True)
        if len(answers) and answers[counts.argmax()] >= 0 and len(np.unique(cell.golds)) > 1:
            share = float(counts.max() / len(cell.picked))
            found += [OneAnswer(cell, int(answers[counts.argmax()]), share)] if share >= NEARLY_ALL else []
    return found
