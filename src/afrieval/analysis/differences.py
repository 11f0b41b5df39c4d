"""The difference of two sides on the same documents, under any metric: its interval, and whether it is chance."""

import math
from functools import partial
from typing import NamedTuple

import numpy as np

from afrieval.analysis.scores import Average
from afrieval.results.scores import Values
from afrieval.statistics.influence import linear_values
from afrieval.statistics.intervals import Interval
from afrieval.statistics.paired import PERMUTATIONS as SIGNS
from afrieval.statistics.paired import PairedTest, of_draws, of_flips, of_signs, smallest_flips, smallest_mean
from afrieval.statistics.resampling import PERMUTATIONS, swap_draws
from afrieval.statistics.significance import LEVEL, bonferroni, flips


class Difference(NamedTuple):
    """What is known of a difference.

    Attributes:
        interval: holds at once with those of the other comparisons, and contains 0 if and only if `adjusted` is not
            below `LEVEL`; None if nothing shows how sure the difference is.
        p: exact McNemar where each document is right or wrong, else the paired permutation test.
        adjusted: for the number of comparisons.
        visible: the smallest true difference that would be found four times out of five.
        gained: documents that the second side has higher.
        lost: documents that it has lower.
    """

    interval: Interval | None
    p: float
    adjusted: float
    visible: float
    gained: int
    lost: int


def difference(first: Average, second: Average, tests: int, seed: int) -> Difference:
    """Returns how the second side differs from the first.

    Args:
        first: one side.
        second: the other, of the same documents.
        tests: how many comparisons are looked at together.
        seed: of permutations.
    """
    metric, level = first.metric, LEVEL / tests
    gained, lost = flips(*_on_one_scale(first, second))
    found = paired_test(first, second, np.random.default_rng(seed), level)
    low, high = metric.bounds
    differences = second.values - first.values
    span = max(high - low, float(np.abs(differences).max()))
    interval = found.interval(span if metric.is_mean else math.inf) if metric.interval != "none" else None
    exact = _is_binary(first, second)
    visible = smallest_flips(found.n, found.m, level) if exact else smallest_mean(differences, level, high - low)
    return Difference(interval, found.p, bonferroni(found.p, tests), visible, gained, lost)


def paired_test(
    first: Average, second: Average, rng: np.random.Generator, level: float = LEVEL, permutations: int | None = None
) -> PairedTest:
    """Returns the test of a difference; arguments as in `difference` and `of_signs`."""
    n, differences = len(first.ids), second.values - first.values
    if _is_binary(first, second):
        return of_flips(*flips(first.values, second.values), n, level)
    if first.metric.is_mean:
        return of_signs(differences, rng, level, permutations or SIGNS)
    swap = partial(_swapped, first, second)
    drawn = n * swap_draws(swap, n, rng, permutations or PERMUTATIONS)
    total, differing = n * float(swap(np.zeros((1, n)))[0]), sum(flips(*_on_one_scale(first, second)))
    return of_draws(total, drawn, float(np.mean(drawn**2)), (n, differing), level)


def _is_binary(first: Average, second: Average) -> bool:
    return first.metric.is_mean and set(np.unique([first.values, second.values])) <= {0.0, 1.0}


def _swapped(first: Average, second: Average, swapped: Values) -> Values:
    """Returns the difference where some documents' measures are on the other side, shape (b,)."""
    metric, stays = first.metric, 1 - swapped
    found = []
    for one, other in zip(first.measures, second.measures, strict=True):
        both = np.concatenate([one, other])
        ahead, behind = np.hstack([swapped, stays]), np.hstack([stays, swapped])
        found.append(metric.score(both, ahead) - metric.score(both, behind))
    return np.asarray(np.mean(found, axis=0))


def _on_one_scale(first: Average, second: Average) -> tuple[Values, Values]:
    """Returns what documents add on each side, as if they were of one set, so that like measures give like values."""
    if first.metric.is_mean:
        return first.values, second.values
    n = len(first.ids)
    pairs = zip(first.measures, second.measures, strict=True)
    values = np.mean([linear_values(first.metric, np.concatenate(pair)) for pair in pairs], axis=0)
    return values[:n].round(9), values[n:].round(9)
