"""The interval and the power of a comparison of two sets of values by the area under the ROC curve."""

import math
from collections.abc import Callable
from statistics import NormalDist

from afrieval.statistics.intervals import Z95, Interval
from afrieval.statistics.significance import LEVEL, Z_POWER

TINY = 1e-9  # next to 0 and 1, which are roots as well if they are observed


def auc_interval(auc: float, n: int, m: int, z: float = Z95) -> Interval:
    """Returns an interval of an AUC that has a width even if the two sets do not overlap.

    Newcombe 2006, "Confidence Intervals for an Effect Size Measure Based on the Mann-Whitney Statistic. Part 2",
    method 5: the values that are not rejected, with the variance that each would have (Hanley & McNeil 1982).

    Args:
        auc: as observed.
        n: size of one set.
        m: size of the other.
        z: a normal quantile; by default of a 95 % interval.
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

    Args:
        n: size of one set.
        m: size of the other.
        tests: how many comparisons are looked at together.
    """
    z = NormalDist().inv_cdf(1 - LEVEL / tests) + Z_POWER
    return min(1.0, 0.5 + z * math.sqrt((n + m + 1) / (12 * n * m)))
