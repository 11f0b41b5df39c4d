"""One procedure for a paired difference: the test, the interval that inverts it, and the difference that it can find.

All of it is about d, what each of n documents adds to the difference: the test asks whether their sum is larger than
the sums that arise if each document's two answers are swapped at random. The interval holds each difference that the
same statistic does not reject with the same critical value, so it contains 0 if and only if the test sees nothing.
Levels hold for a single comparison. Among several, each gets the level divided by their number (Bonferroni): then
the intervals hold all at once, and they and the adjusted p-values still agree. Holm's p-values are a little smaller,
but the intervals that fit them are open on one side or end at 0 (Strassburger & Bretz 2008, "Compatible simultaneous
lower confidence bounds for the Holm procedure and other Bonferroni-based closed tests").
"""

import math
from functools import lru_cache
from statistics import NormalDist
from typing import NamedTuple

import numpy as np

from afrieval.scoring.base import Array
from afrieval.scoring.statistics.intervals import LEVEL, Interval, least_error
from afrieval.scoring.statistics.tests import POWER, Z_POWER, mcnemar

PERMUTATIONS = 20_000
STEPS = 24  # of a bisection: the result is known to 1e-7


class PairedTest(NamedTuple):
    """A paired test of the sum of what n documents add to a difference.

    Attributes:
        total: the sum.
        squares: sum of their squares, or its mean over draws; infinity if the error is the same for all differences.
        n: documents.
        m: how many of them differ.
        level: at which the test is made, and the interval holds.
        p: two-sided.
        critical: what the size of the sum must exceed for `p` to be below the level; infinity if no sum is enough.
    """

    total: float
    squares: float
    n: int
    m: int
    level: float
    p: float
    critical: float

    def interval(self, span: float = math.inf) -> Interval | None:
        """Returns the interval of the mean difference: all values that a score test does not reject.

        Two more documents are added, one each way, as large as those that differ: where few differ, these show too
        little of the variance (Bonett & Price 2012, "Adjusted Wald Confidence Interval for a Difference of Binomial
        Proportions Based on Paired Data"). As in Tango's interval (1998, "Equivalence test and confidence interval for
        the difference in proportions for the paired-sample design"), a value is tested with the variance around itself.
        The critical value comes from the test, or is the normal one where too few documents differ to be significant.

        Args:
            span: the largest difference of a document; infinity if there is none.

        Returns:
            None if nothing shows how sure the difference is.
        """
        if not self.m and math.isinf(span):
            return None
        spread = self.squares * (1 + 2 / self.m) if self.m else 2 * span**2
        normal = max(abs(self.total), -NormalDist().inv_cdf(self.level / 2) * math.sqrt(spread))
        limit = self.critical if math.isfinite(self.critical) else normal
        middle, square, beyond = self.total / (self.n + 2), spread / (self.n + 2), limit / (self.n + 2)
        if square <= beyond**2:  # too few documents to say anything
            return None if math.isinf(span) else Interval(-span, span)
        ratio = max(0.0, square - middle**2) / (square - beyond**2) if math.isfinite(square) else 1.0
        half = beyond * math.sqrt(ratio)
        low, high = max(-span, middle - half), min(span, middle + half)
        return Interval(low, high) if self.p < self.level else Interval(min(0.0, low), max(0.0, high))


def of_flips(gained: int, lost: int, n: int, level: float = LEVEL) -> PairedTest:
    """Returns the exact McNemar test.

    Its critical sum lies half way between the largest that is not significant and the smallest that is, 2 apart.

    Args:
        gained: documents that only the second side has right.
        lost: documents that only the first side has right.
        n: all documents.
        level: of a two-sided test.
    """
    m = gained + lost
    fewest = int(_significant(n, level)[m])
    critical = 2.0 * fewest - m - 1 if fewest <= m else math.inf
    return PairedTest(gained - lost, m, n, m, level, mcnemar(gained, lost), critical)


def of_signs(
    differences: Array, rng: np.random.Generator, level: float = LEVEL, permutations: int = PERMUTATIONS
) -> PairedTest:
    """Returns the paired permutation test of a mean.

    If the two sides are exchangeable, each document's difference is as likely with the other sign (Fisher 1935, "The
    Design of Experiments", section 21). Signs are drawn at random.
    """
    nonzero = differences[differences != 0]
    drawn, step = [], max(1, 4_000_000 // max(1, len(nonzero)))
    for start in range(0, permutations, step):
        signs = rng.integers(0, 2, (min(step, permutations - start), len(nonzero)), dtype=np.int8) * 2 - 1
        drawn.append(np.abs(signs @ nonzero))
    sizes = len(differences), len(nonzero)
    return of_draws(float(nonzero.sum()), np.concatenate(drawn), float(np.sum(nonzero**2)), sizes, level)


def of_student(differences: Array, n_sure: int, level: float = LEVEL) -> PairedTest:
    """Returns Student's paired test of a mean from 0 to 1 that few documents say how sure it is.

    The error is at least `least_error`.
    """
    from scipy import special

    n, total = len(differences), float(differences.sum())
    if n_sure < 2:
        return PairedTest(total, 0.0, n, 0, level, 1.0, math.inf)
    error = n * max(math.sqrt(float(differences.var(ddof=1)) / n), least_error(n_sure))
    p = 2 * float(special.stdtr(n_sure - 1, -abs(total) / error))
    critical = -float(special.stdtrit(n_sure - 1, level / 2)) * error
    return PairedTest(total, math.inf, n, n_sure, level, p, critical)


def smallest_student(test: PairedTest) -> float:
    """Returns the smallest true mean difference from -1 to 1 that `of_student` finds about four times out of five."""
    from scipy import special

    if math.isinf(test.critical):
        return 1.0
    error = test.critical / -float(special.stdtrit(test.m - 1, test.level / 2))
    return min(1.0, (test.critical + Z_POWER * error) / test.n)


def of_draws(total: float, drawn: Array, squares: float, sizes: tuple[int, int], level: float = LEVEL) -> PairedTest:
    """Returns a test of a sum by what it would be if nothing differed.

    What was observed counts as one more draw, so that the p-value is never 0 and its size is exact (Phipson & Smyth
    2010, "Permutation P-values Should Never Be Zero"); few draws therefore never reach low levels.

    Args:
        total: the sum.
        drawn: its size if nothing differed, shape (b,).
        squares: sum of the squares of what documents add.
        sizes: number of documents, and how many of them differ.
        level: of a two-sided test.
    """
    slack = 1e-9 * max(1.0, abs(total))  # of rounding: draws that are equal to the sum are as extreme
    p = (int(np.sum(drawn >= abs(total) - slack)) + 1) / (len(drawn) + 1)
    allowed = math.ceil(level * (len(drawn) + 1)) - 2  # draws as extreme as the sum, if it is to be significant
    rank = len(drawn) - 1 - allowed
    critical = math.inf
    if allowed >= 0:
        most = float(np.partition(drawn, rank)[rank])  # the largest sum that is not significant
        larger = np.append(drawn, abs(total))
        critical = (most + float(np.min(larger[larger > most + slack], initial=math.inf))) / 2
    return PairedTest(total, squares, *sizes, level, p, critical)


@lru_cache(maxsize=64)
def _significant(most: int, level: float) -> Array:
    """Returns how many of 0, 1, ... `most` differing documents one side must have to be significantly better.

    One more than there are where no number is enough.
    """
    from scipy import special

    m = np.arange(most + 1.0)
    more = np.minimum(m, np.ceil(m / 2 - special.ndtri(level / 2) * np.sqrt(m) / 2))  # about as many
    for step in (1, -1):  # up to where the p-value is low enough, and down to the last number where it is
        for _ in range(int(math.sqrt(most)) + 2):
            tried = more if step > 0 else more - 1
            enough = 2 * _at_least(tried, m, 0.5) < level
            moved = ~enough & (more <= m) if step > 0 else enough
            if not moved.any():
                break
            more = np.where(moved, more + step, more)
    return np.asarray(more)


def _at_least(k: Array, n: Array, p: float) -> Array:
    """Returns the probability of k or more of n, each with probability p."""
    from scipy import special

    inside = special.betainc(np.maximum(k, 1), np.maximum(n - k, 0) + 1, p)
    return np.asarray(np.where(k > n, 0.0, np.where(k <= 0, 1.0, inside)))


def smallest_flips(n: int, m: int, level: float = LEVEL) -> float:
    """Returns the smallest true difference that the exact McNemar test finds four times out of five.

    How many documents differ is binomial, and so is how many of these the better side has: the power is the sum over
    both (Miettinen 1968, "The Matched Pairs Design in the Case of All-or-None Responses"; its normal approximation is
    far off where few documents differ).

    Args:
        n: number of documents.
        m: how many of them differ; a true difference makes it at least as many.
        level: of a two-sided test.
    """
    low, high = 0.0, 1.0
    if _power(n, m / n, high, level) < POWER:
        return 1.0
    for _ in range(STEPS):
        middle = (low + high) / 2
        low, high = (low, middle) if _power(n, m / n, middle, level) >= POWER else (middle, high)
    return high


def _power(n: int, differ: float, true: float, level: float) -> float:
    from scipy import special

    differ = max(differ, true)
    spread = 8 * math.sqrt(n * differ * (1 - differ)) + 8
    m = np.arange(max(0, math.floor(n * differ - spread)), min(n, math.ceil(n * differ + spread)) + 1.0)
    logs = special.gammaln(n + 1) - special.gammaln(m + 1) - special.gammaln(n - m + 1)
    shares = np.exp(logs + special.xlogy(m, differ) + special.xlog1py(n - m, -differ))
    needed = _significant(n, level)[m.astype(int)]
    return float(shares @ _at_least(needed, m, (1 + true / differ) / 2))


def smallest_mean(differences: Array, level: float = LEVEL, span: float = 1.0) -> float:
    """Returns the smallest true mean difference that is found four times out of five, by a normal approximation.

    It follows from the standard deviation observed, but is never less than what the formula gives if no document
    differs but by that difference itself.

    Args:
        differences: one per document, shape (n,).
        level: of a two-sided test.
        span: the largest difference there can be; infinity if there is none.
    """
    n = len(differences)
    return smallest_mean_of(float(np.std(differences, ddof=1)) if n > 1 else 0.0, n, level, span)


def smallest_mean_of(spread: float, n: int, level: float = LEVEL, span: float = 1.0) -> float:
    """Returns the smallest mean of n differences that is found, from their standard deviation."""
    z = Z_POWER - NormalDist().inv_cdf(level / 2)
    least = span * z**2 / n if math.isfinite(span) else 0.0
    return min(span, max(z * spread / math.sqrt(n), least))
