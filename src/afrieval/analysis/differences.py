"""The difference of two sides on the same documents, under any metric: its interval, and whether it is chance."""

from typing import NamedTuple

import numpy as np

from afrieval.analysis.scores import Average
from afrieval.results.scores import Values
from afrieval.statistics.influence import linear_values
from afrieval.statistics.intervals import Interval, bootstrap
from afrieval.statistics.resampling import percentile, swap_test
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
    visible = smallest_visible(second.values - first.values, tests, high - low)
    if metric.is_mean:
        interval, p = _of_means(first.values, second.values, rng)
        return Difference(interval, p, visible, *flips(first.values, second.values))
    n = len(first.ids)
    interval = percentile(lambda w: second.scores(w) - first.scores(w), n, rng) if metric.interval != "none" else None
    p = swap_test(lambda swapped: _swapped(first, second, swapped), n, rng)
    return Difference(interval, p, visible, *flips(*_on_one_scale(first, second)))


def _of_means(first: Values, second: Values, rng: np.random.Generator) -> tuple[Interval | None, float]:
    interval = bootstrap(second - first, rng)
    binary = set(np.unique(np.concatenate([first, second]))) <= {0.0, 1.0}
    return interval, mcnemar(first, second) if binary else sign_permutation(second - first, rng)


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
    n = len(first.ids)
    pairs = zip(first.measures, second.measures, strict=True)
    values = np.mean([linear_values(first.metric, np.concatenate(pair)) for pair in pairs], axis=0)
    return values[:n].round(9), values[n:].round(9)
