"""Tests of paired differences and of any score, by the weights that documents get."""

from collections.abc import Callable, Iterator, Sequence
from statistics import NormalDist
from typing import overload

import numpy as np
from numpy.typing import NDArray

from afrieval.scoring.base import Array
from afrieval.scoring.statistics.intervals import LEVEL, Z95, Interval

POWER = 0.8
Z_POWER = 0.8416212335729143  # a normal quantile: four of five true differences are found

Values = NDArray[np.float64]


def mcnemar(gained: int, lost: int) -> float:
    """Returns the p-value of the exact McNemar test, two-sided.

    McNemar 1947, "Note on the Sampling Error of the Difference Between Correlated Proportions or Percentages": of the
    documents that only one of the two gets right, each is equally likely to be the first's; the p-value is the binomial
    one. Documents that both get right, or both wrong, say nothing.
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


@overload
def significant(p: float) -> bool: ...
@overload
def significant(p: Values) -> NDArray[np.bool_]: ...
def significant(p: float | Values) -> bool | NDArray[np.bool_]:
    """Returns whether a p-value shows a difference: the rule of all verdicts and ranks.

    It has to be adjusted for all tests that are looked at together; each family has its own way: `bonferroni` where
    intervals are shown too, `holm` where there are none.
    """
    return p < LEVEL


def direction(difference: float, p: float) -> int:
    """Returns 1 for a higher second side, -1 for a lower one, 0 if the adjusted p-value does not show which."""
    return int(np.sign(difference)) if significant(p) else 0


Statistic = Callable[[Array], Array]
RESAMPLES, PERMUTATIONS = 2_000, 5_000  # fewer than for means: some scores take long to compute
SEED = 42  # of the intervals of scores, which are the same wherever they are shown
ENTRIES = 2_000_000  # of a matrix of weights


def percentile(
    statistic: Statistic, n: int | Sequence[int], rng: np.random.Generator, resamples: int = RESAMPLES, z: float = Z95
) -> Interval | None:
    """Returns the percentile bootstrap interval of a statistic, or None where nothing varies.

    Efron & Tibshirani 1993, "An Introduction to the Bootstrap", chapter 13.

    Args:
        statistic: returns what is estimated.
        n: number of documents; of several data sets, the number of each, which are drawn from separately.
        rng: source of randomness.
        resamples: how many samples are drawn.
        z: a normal quantile; by default of a 95 % interval.
    """
    sizes = [n] if isinstance(n, int) else n
    estimates = np.concatenate(
        [statistic(np.hstack([_drawn(k, size, rng) for k in sizes])) for size in _steps(sum(sizes), resamples)]
    )
    estimates = estimates[np.isfinite(estimates)]  # a small group of documents may not be drawn at all
    if not len(estimates) or np.ptp(estimates) <= 1e-12 * max(1.0, float(np.abs(estimates).max())):
        return None
    share = NormalDist().cdf(-z)
    low, high = np.quantile(estimates, [share, 1 - share])
    return Interval(float(low), float(high))


def swap_draws(difference: Statistic, n: int, rng: np.random.Generator, permutations: int = PERMUTATIONS) -> Array:
    """Returns the size of a difference if the two sides were exchangeable, shape (b,).

    Then the difference is as likely with any document's two answers swapped (Fisher 1935, "The Design of Experiments",
    section 21).

    Args:
        difference: takes the share of each document that is swapped, 0 or 1, and returns the second score less the
            first.
        n: number of documents.
        rng: source of randomness.
        permutations: how many are drawn.
    """
    swaps = (rng.integers(0, 2, (size, n), dtype=np.int8).astype(np.float64) for size in _steps(n, permutations))
    return np.concatenate([np.abs(difference(swapped)) for swapped in swaps])


def _drawn(n: int, size: int, rng: np.random.Generator) -> Array:
    """Returns how often each of n documents is drawn, in `size` samples of n."""
    drawn = rng.integers(0, n, (size, n)) + n * np.arange(size)[:, None]
    return np.bincount(drawn.ravel(), minlength=size * n).reshape(size, n).astype(np.float64)


def _steps(n: int, total: int) -> Iterator[int]:
    """Yields how many resamples to draw at once, so that memory stays small."""
    step = max(1, ENTRIES // n)
    yield from (min(step, total - start) for start in range(0, total, step))
