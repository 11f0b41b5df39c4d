"""The power of a comparison of two sets of values by the area under the ROC curve."""

import math
from statistics import NormalDist

from afrieval.statistics.significance import LEVEL, Z_POWER


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
