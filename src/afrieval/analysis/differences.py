"""The difference of two sides on the same documents: its interval, its test, and what could have been detected."""

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from afrieval.analysis.scores import PromptMean
from afrieval.analysis.verdicts import Floor, not_above
from afrieval.languages import is_african
from afrieval.results.document_columns import Values
from afrieval.scoring.statistics.intervals import LEVEL, Interval, linear_values
from afrieval.scoring.statistics.paired import PERMUTATIONS as SIGNS
from afrieval.scoring.statistics.paired import (
    PairedTest,
    of_draws,
    of_flips,
    of_signs,
    of_student,
    smallest_flips,
    smallest_mean,
    smallest_student,
)
from afrieval.scoring.statistics.tests import PERMUTATIONS, bonferroni, direction, flips, significant, swap_draws

ENOUGH = 4  # draws over the level: up to two as extreme as the difference are then significant


@dataclass(frozen=True, kw_only=True)
class Difference:
    """What is known of the difference of two sides on the same documents.

    Attributes:
        n: documents that both sides have.
        interval: holds at once with the other comparisons' intervals, and contains 0 if and only if `adjusted` is not
            below `LEVEL`; None if nothing shows how sure the difference is.
        p: exact McNemar where each document is right or wrong, else the paired permutation test.
        adjusted: for the number of comparisons.
        detectable: the smallest true difference that would be found four times out of five, among so many comparisons.
        gained: documents that the second side has higher.
        lost: documents that it has lower.
        floor: what the better side is not above, though the sides differ: a score that takes no reading.
        language: of the documents; empty if it is not known.
        prompts: the prompt numbers averaged over.
        dropped: documents that only one side has, or whose right answers differ.
        concludes: whether a verdict may be given: not on the first rows of a test set, which may be alike, not of
            scores that people have not corrected, and not if it is open.
        open: whether the verdict would be another one if all unparsed answers of one side were right.
        sides: both sides on these documents; empty if they are not known.
    """

    first: float
    second: float
    n: int
    interval: Interval | None
    p: float
    adjusted: float
    detectable: float
    gained: int
    lost: int
    floor: Floor | None = None
    language: str = ""
    prompts: list[Any] = field(default_factory=list)
    dropped: int = 0
    concludes: bool = True
    open: bool = False
    sides: tuple[PromptMean, ...] = field(default=(), repr=False, compare=False)

    @property
    def difference(self) -> float:
        """Second minus first."""
        return self.second - self.first

    @property
    def differs(self) -> bool:
        """Whether one side is higher beyond chance, if only by what takes no reading."""
        return significant(self.adjusted)

    @property
    def is_averaged(self) -> bool:
        """Whether means over African languages and tasks include it."""
        cells = [cell for side in self.sides for cell in side.cells]
        return is_african(self.language) and all(c.is_averaged and c.concludes and not c.defect for c in cells)

    @property
    def verdict(self) -> int:
        """1 if the second side is higher, -1 if it is lower, 0 if neither can be concluded."""
        return direction(self.difference, self.adjusted) if self.concludes and not self.floor else 0


def difference(first: PromptMean, second: PromptMean, tests: int, seed: int) -> Difference:
    """Returns how the second side differs from the first.

    Args:
        first: one side.
        second: the other, of the same documents.
        tests: how many comparisons are looked at together.
        seed: of permutations.
    """
    metric, comparisons = first.metric, tests
    tests *= max(first.looks, second.looks)  # each look at a growing sample is another comparison
    level = LEVEL / tests
    gained, lost = flips(*_on_one_scale(first, second))
    test = paired_test(first, second, np.random.default_rng(seed), level)
    low, high = metric.bounds
    differences = second.values - first.values
    span = max(high - low, float(np.abs(differences).max()))  # balanced scores may differ by more than their range
    bounded = metric.is_mean or metric.is_few
    interval = test.interval(span if bounded else math.inf) if metric.interval != "none" else None
    if metric.is_few:
        detectable = smallest_student(test)
    elif _is_binary(first, second):
        detectable = smallest_flips(test.n, test.m, level)
    else:
        detectable = smallest_mean(differences, level, high - low)
    adjusted, better = bonferroni(test.p, tests), max(first, second, key=lambda side: side.score)
    return Difference(
        first=first.score,
        second=second.score,
        n=len(first.ids),
        interval=interval,
        p=test.p,
        adjusted=adjusted,
        detectable=detectable,
        gained=gained,
        lost=lost,
        floor=not_above(better, LEVEL / comparisons) if significant(adjusted) else None,
    )


def paired_test(
    first: PromptMean,
    second: PromptMean,
    rng: np.random.Generator,
    level: float = LEVEL,
    permutations: int | None = None,
) -> PairedTest:
    """Returns the test of a difference; arguments as in `difference` and `of_signs`.

    If no draw is as extreme as the difference, and still too few were drawn for the level, more are drawn. This keeps
    the level: what is significant then would be so if as many had been drawn at once.
    """
    if _is_binary(first, second):
        return of_flips(*flips(first.values, second.values), len(first.ids), level)
    if first.metric.is_few:
        return of_student(second.values - first.values, min(first.n_sure, second.n_sure), level)
    draws = permutations or (SIGNS if first.metric.is_mean else PERMUTATIONS)
    test = _of_draws(first, second, rng, level, draws)
    if permutations is None and level <= test.p <= 1 / (draws + 1):
        return _of_draws(first, second, rng, level, math.ceil(ENOUGH / level))
    return test


def _of_draws(first: PromptMean, second: PromptMean, rng: np.random.Generator, level: float, draws: int) -> PairedTest:
    n = len(first.ids)
    if first.metric.is_mean:
        return of_signs(second.values - first.values, rng, level, draws)

    def swap(swapped: Values) -> Values:
        """Returns the difference where some documents' measures are on the other side, shape (b,)."""
        ahead, behind = np.hstack([swapped, 1 - swapped]), np.hstack([1 - swapped, swapped])
        both = map(np.concatenate, zip(first.measures, second.measures, strict=True))
        score = first.metric.score
        return np.asarray(np.mean([score(of, ahead) - score(of, behind) for of in both], axis=0))

    # Scores that are no means have to be computed again for each draw.
    drawn = n * swap_draws(swap, n, rng, draws)
    total, differing = n * float(swap(np.zeros((1, n)))[0]), sum(flips(*_on_one_scale(first, second)))
    return of_draws(total, drawn, float(np.mean(drawn**2)), (n, differing), level)


def _is_binary(first: PromptMean, second: PromptMean) -> bool:
    return first.metric.is_mean and set(np.unique([first.values, second.values])) <= {0.0, 1.0}


def _on_one_scale(first: PromptMean, second: PromptMean) -> tuple[Values, Values]:
    """Returns what documents add on each side, as if they were of one set, so that like measures give like values.

    Of corrected scores, it is what the judge says.
    """
    if first.metric.is_mean:
        return first.values, second.values
    if first.metric.is_few:
        one, other = (np.mean([measures[:, 0] for measures in side.measures], axis=0) for side in (first, second))
        return one, other
    n = len(first.ids)
    pairs = zip(first.measures, second.measures, strict=True)
    values = np.mean([linear_values(first.metric, np.concatenate(pair)) for pair in pairs], axis=0)
    return values[:n].round(9), values[n:].round(9)
