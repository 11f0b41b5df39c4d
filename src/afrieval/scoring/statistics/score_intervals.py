"""Intervals of scores under any metric, of macro averages, and of areas under ROC curves."""

import math
from collections.abc import Callable, Sequence
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from afrieval.scoring.base import Array, Metric
from afrieval.scoring.statistics.intervals import (
    LEVEL,
    Z95,
    Interval,
    IntervalEstimate,
    clustered_wilson,
    least_error,
    linear_values,
    wilson,
)
from afrieval.scoring.statistics.tests import RESAMPLES, SEED, Z_POWER, percentile


def mean_values(metric: Metric, sides: Sequence[Array]) -> Array:
    """Returns a value per document whose mean is the mean score of several prompts; for one prompt, its own values."""
    return np.asarray(np.mean([linear_values(metric, measures) for measures in sides], axis=0))


def score_interval(
    metric: Metric, sides: Sequence[Array], resamples: int = RESAMPLES, z: float = Z95
) -> Interval | None:
    """Returns the interval of the mean score of one prompt or several; None where none makes sense."""
    if metric.interval == "none":
        return None
    n = len(sides[0])
    if metric.interval == "bootstrap":
        rng = np.random.default_rng(SEED)

        def mean_score(weights: Array) -> Array:
            return np.asarray(np.mean([metric.score(measures, weights) for measures in sides], axis=0))

        return percentile(mean_score, n, rng, resamples, z)
    values = mean_values(metric, sides)
    if metric.interval == "student":
        return student(values, min(map(metric.n_sure, sides)), z)
    if not metric.is_mean:  # counts of answers, of which a document may have many: there may be fewer independent ones
        answers = max(1.0, float(np.mean([np.nanmax(measures, axis=1).mean() for measures in sides])))
        return clustered_wilson(values, answers * len(sides), fewest=1.0, z=z)
    return clustered_wilson(values, len(sides), z=z) if len(sides) > 1 else wilson(float(values.sum()), n, z)


def student(values: Array, n_sure: int, z: float = Z95) -> Interval | None:
    """Returns the interval of a mean from 0 to 1 that few documents say how sure it is; None for fewer than two.

    Wilson's, with as many documents as would have the standard error found, and with Student's t in place of z (as in
    `clustered_wilson`), and an error of at least `least_error`. docs/statistics.md has simulations.

    Args:
        values: one per document, with the score as their mean, and its standard error as that of their mean.
        n_sure: how many documents say how sure it is.
        z: a normal quantile; by default of a 95 % interval.
    """
    if n_sure < 2:
        return None
    from scipy import special

    p, few = float(values.mean()), (z / float(special.stdtrit(n_sure - 1, special.ndtr(z)))) ** 2
    variance = max(float(values.var(ddof=1)) / len(values), least_error(n_sure) ** 2)
    effective = few * (p * (1 - p) / variance if 0 < p < 1 else n_sure)
    return wilson(p * effective, effective, z)


def macro(values: NDArray[np.float64], parts: NDArray[np.int64], z: float = Z95) -> IntervalEstimate | None:
    """Returns the macro average over all parts, each of which counts the same; None if no document has a part.

    Args:
        values: each document's score, 0 or 1, or its mean over prompts, shape (n,).
        parts: the part that each is of, by number, shape (n,); -1 for none.
        z: a normal quantile; by default of a 95 % interval.
    """
    of_parts = [values[parts == part] for part in np.unique(parts[parts >= 0])]
    if not of_parts:
        return None
    return IntervalEstimate(float(np.mean([v.mean() for v in of_parts])), over_parts(of_parts, z), len(of_parts))


def over_parts(parts: list[NDArray[np.float64]], z: float = Z95) -> Interval:
    """Returns the 95 % interval of a mean over parts that are all there are: other rows could be asked, no other parts.

    Rows are a sample stratified by part, so the variance follows from the parts' means (Cochran 1977, "Sampling
    Techniques", section 5.3). The interval is Wilson's with as many rows as would have that variance (Korn & Graubard
    1998, see `clustered_wilson`), so that it stays inside 0 and 1. A part of one row, or none whose rows differ, shows
    no variance; then rows are taken to be equally hard in all parts, which makes the interval wider, not narrower.
    """
    k, score = len(parts), float(np.mean([p.mean() for p in parts]))
    effective = k**2 / sum(1 / len(p) for p in parts)
    if min(map(len, parts)) > 1:
        variance = float(sum(p.var(ddof=1) / len(p) for p in parts)) / k**2
        effective = score * (1 - score) / variance if variance > 0 else effective
    return wilson(score * effective, effective, z)


TINY = 1e-9  # next to 0 and 1, which are roots as well if they are observed


def auc_interval(auc: float, n: int, m: int, z: float = Z95) -> Interval:
    """Returns an interval of an AUC that has a width even if the two sets do not overlap.

    Newcombe 2006, "Confidence Intervals for an Effect Size Measure Based on the Mann-Whitney Statistic. Part 2",
    method 5: the values that are not rejected, with the variance that each would have (Hanley & McNeil 1982).
    """

    def beyond(true: float) -> float:
        more = ((n + m) / 2 - 1) * ((1 - true) / (2 - true) + true / (1 + true))
        return (auc - true) ** 2 - z**2 * true * (1 - true) * (1 + more) / (n * m)

    low = 0.0 if auc <= 0 else _root(beyond, 0.0, min(auc, 1 - TINY))
    return Interval(low, 1.0 if auc >= 1 else _root(beyond, max(auc, TINY), 1.0))


def _root(function: Callable[[float], float], low: float, high: float) -> float:
    from scipy.optimize import brentq  # here, since importing it takes a quarter of a second

    return float(brentq(function, low, high))


def smallest_auc(n: int, m: int, tests: int = 1) -> float:
    """Returns the smallest AUC above 0.5 that two sets of values show four times out of five.

    The normal approximation of the Mann-Whitney test, one-sided, with its variance if the two do not differ (Mann &
    Whitney 1947, "On a Test of Whether one of Two Random Variables is Stochastically Larger than the Other").
    """
    z = NormalDist().inv_cdf(1 - LEVEL / tests) + Z_POWER
    return min(1.0, 0.5 + z * math.sqrt((n + m + 1) / (12 * n * m)))
