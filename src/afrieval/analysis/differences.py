"""The difference of two sides on the same documents, under any metric: its interval, and whether it is chance."""

from functools import partial
from typing import NamedTuple

import numpy as np

from afrieval.analysis.scores import Average
from afrieval.results.scores import Values
from afrieval.statistics.influence import linear_values
from afrieval.statistics.intervals import RESAMPLES as MEANS
from afrieval.statistics.intervals import Interval, bootstrap
from afrieval.statistics.resampling import PERMUTATIONS, RESAMPLES, percentile, swap_test
from afrieval.statistics.significance import flips, mcnemar, sign_permutation, smallest_visible


class Difference(NamedTuple):
    """What is known of a difference.

    Attributes:
        interval: by paired bootstrap; None where all documents differ alike, or the metric has no interval.
        p: exact McNemar where each document is right or wrong, else the paired permutation test.
        visible: the smallest true difference that would be found four times out of five.
        gained: documents that the second side has higher.
        lost: documents that it has lower.
    """

    interval: Interval | None
    p: float
    visible: float
    gained: int
    lost: int


def difference(first: Average, second: Average, tests: int, seed: int) -> Difference:
    """Returns how the second side differs from the first.

    Args:
        first: one side.
        second: the other, of the same documents.
        tests: how many comparisons are looked at together.
        seed: of bootstrap and permutations.
    """
    metric, rng = first.metric, np.random.default_rng(seed)
    low, high = metric.bounds
    interval, p = paired_interval(first, second, rng), paired_test(first, second, rng)
    visible = smallest_visible(second.values - first.values, tests, high - low)
    return Difference(interval, p, visible, *flips(*_on_one_scale(first, second)))


def paired_interval(
    first: Average, second: Average, rng: np.random.Generator, resamples: int | None = None
) -> Interval | None:
    """Returns the interval of a difference by paired bootstrap; arguments as in `difference` and `percentile`."""
    if first.metric.is_mean:
        return bootstrap(second.values - first.values, rng, resamples or MEANS)
    if first.metric.interval == "none":
        return None
    return percentile(lambda w: second.scores(w) - first.scores(w), len(first.ids), rng, resamples or RESAMPLES)


def paired_test(first: Average, second: Average, rng: np.random.Generator, permutations: int | None = None) -> float:
    """Returns the p-value of a difference; arguments as in `difference` and `swap_test`."""
    if not first.metric.is_mean:
        swap = partial(_swapped, first, second)
        return swap_test(swap, len(first.ids), rng, permutations or PERMUTATIONS)
    binary = set(np.unique(np.concatenate([first.values, second.values]))) <= {0.0, 1.0}
    return mcnemar(first.values, second.values) if binary else sign_permutation(second.values - first.values, rng)


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
