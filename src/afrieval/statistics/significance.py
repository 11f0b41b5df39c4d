"""Tests of paired differences. Each function is pure; random ones take their generator."""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

PERMUTATIONS = 20_000
LEVEL = 0.05
Z_POWER = 0.8416212335729143  # a normal quantile: four of five true differences are found

Values = NDArray[np.float64]


def mcnemar(first: Values, second: Values) -> float:
    """Returns the p-value of the exact McNemar test, two-sided.

    McNemar 1947, "Note on the Sampling Error of the Difference Between Correlated Proportions or Percentages": of the
    documents that only one of the two gets right, each is equally likely to be the first's; the p-value is the binomial
    one. Documents that both get right, or both wrong, say nothing.

    Args:
        first: 0 or 1 for each document, shape (n,).
        second: the same documents.
    """
    gained, lost = flips(first, second)
    from scipy import special

    fewer, more = sorted((gained, lost))
    # P(X <= k) of n tosses of a coin is I(1/2; n - k, k + 1), and both tails are alike
    return min(1.0, 2 * float(special.betainc(more, fewer + 1, 0.5))) if more else 1.0


def flips(first: Values, second: Values) -> tuple[int, int]:
    """Returns how many documents the second has higher, and how many lower."""
    return int(np.sum(second > first)), int(np.sum(second < first))


def sign_permutation(differences: Values, rng: np.random.Generator, permutations: int = PERMUTATIONS) -> float:
    """Returns the p-value of the paired permutation test of a mean, two-sided.

    If the two sides are exchangeable, each document's difference is as likely with the other sign (Fisher 1935, "The
    Design of Experiments", section 21). Signs are drawn at random; the drawn mean that was observed counts as one more,
    so that the p-value is never 0 and its size is exact (Phipson & Smyth 2010).

    Args:
        differences: one per document, shape (n,).
        rng: source of randomness.
        permutations: how many are drawn.
    """
    nonzero = differences[differences != 0]
    if not len(nonzero):
        return 1.0
    observed = abs(nonzero.sum())
    as_extreme, step = 0, max(1, 4_000_000 // len(nonzero))
    for start in range(0, permutations, step):
        signs = rng.integers(0, 2, (min(step, permutations - start), len(nonzero)), dtype=np.int8) * 2 - 1
        as_extreme += int(np.sum(np.abs(signs @ nonzero) >= observed - 1e-9))
    return (as_extreme + 1) / (permutations + 1)


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


def smallest_visible(differences: Values, tests: int = 1, span: float = 1.0) -> float:
    """Returns the smallest true difference that such a comparison finds four times out of five.

    The normal approximation with the standard deviation observed (Miettinen 1968, "The Matched Pairs Design in the Case
    of All-or-None Responses"), at the level that Holm asks of the smallest of several p-values. It is never less than
    what the same formula gives if no document differs but by that difference itself.

    Args:
        differences: one per document, shape (n,).
        tests: how many comparisons are looked at together.
        span: the largest difference there can be; infinity if there is none.
    """
    from scipy import special

    n = len(differences)
    spread = float(np.std(differences, ddof=1)) if n > 1 else 0.0
    z = -float(special.ndtri(LEVEL / (2 * tests))) + Z_POWER
    least = span * z**2 / n if math.isfinite(span) else 0.0
    return min(span, max(z * spread / math.sqrt(n), least))
