"""Tests of paired differences. Each function is pure; random ones take their generator."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

LEVEL = 0.05
POWER = 0.8
Z_POWER = 0.8416212335729143  # a normal quantile: four of five true differences are found

Values = NDArray[np.float64]


def mcnemar(gained: int, lost: int) -> float:
    """Returns the p-value of the exact McNemar test, two-sided.

    McNemar 1947, "Note on the Sampling Error of the Difference Between Correlated Proportions or Percentages": of the
    documents that only one of the two gets right, each is equally likely to be the first's; the p-value is the binomial
    one. Documents that both get right, or both wrong, say nothing.

    Args:
        gained: documents that only one side gets right.
        lost: documents that only the other side gets right.
    """
    from scipy import special

    fewer, more = sorted((gained, lost))
    # P(X <= k) of n tosses of a coin is I(1/2; n - k, k + 1), and both tails are alike
    return min(1.0, 2 * float(special.betainc(more, fewer + 1, 0.5))) if more else 1.0


def flips(first: Values, second: Values) -> tuple[int, int]:
    """Returns how many documents the second has higher, and how many lower."""
    return int(np.sum(second > first)), int(np.sum(second < first))


def holm(p_values: Sequence[float]) -> list[float]:
    """Returns p-values adjusted for their number: below 0.05, less than one in twenty families has a false find.

    Holm 1979, "A Simple Sequentially Rejective Multiple Test Procedure".

    Args:
        p_values: of one family of tests.
    """
    order = sorted(range(len(p_values)), key=lambda i: p_values[i])
    adjusted, highest = [1.0] * len(p_values), 0.0
    for rank, i in enumerate(order):
        highest = max(highest, min(1.0, (len(p_values) - rank) * p_values[i]))
        adjusted[i] = highest
    return adjusted


def bonferroni(p: float, tests: int) -> float:
    """Returns a p-value adjusted for the number of comparisons that are looked at together."""
    return min(1.0, tests * p)
