"""Intervals and standard errors, and what each document adds to a score."""

import math
from collections.abc import Callable
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from afrieval.scoring.base import Array, Metric

LEVEL = 0.05
Z95 = 1.959963984540054


class Interval(NamedTuple):
    """A 95 % interval."""

    low: float
    high: float


class IntervalEstimate(NamedTuple):
    """A number, its interval, which is None where nothing varies, and how many answers or parts it is about."""

    value: float
    interval: Interval | None
    n: int


def normal_quantile(level: float) -> float:
    """Returns z for a two-sided level, such as 1.96 for 0.05."""
    return Z95 if level == 0.05 else -NormalDist().inv_cdf(level / 2)


def wilson(successes: float, n: float, z: float = Z95) -> Interval:
    """Returns Wilson's score interval of a proportion.

    Wilson 1927, "Probable Inference, the Law of Succession, and Statistical Inference"; it stays inside 0 and 1 and
    keeps its rate near them, which mean plus or minus two standard errors does not.
    """
    p, z2 = successes / n, z**2
    middle = (p + z2 / (2 * n)) / (1 + z2 / n)
    half = z / (1 + z2 / n) * math.sqrt(p * (1 - p) / n + z2 / (4 * n * n))
    return Interval(max(0.0, middle - half) if p > 0 else 0.0, min(1.0, middle + half) if p < 1 else 1.0)


def clustered_wilson(
    values: NDArray[np.float64], per_document: float, fewest: float | None = None, z: float = Z95
) -> Interval:
    """Returns Wilson's interval of a mean over documents that were each asked several times.

    The answers to one document are alike, so n counts neither documents nor answers: it is the number of independent
    answers that would have the standard error found (Korn & Graubard 1998, "Confidence Intervals for Proportions with
    Small Expected Number of Positive Counts Estimated from Survey Data"), never under the number of documents and never
    over the number of answers. A bootstrap has no width where all documents score alike; this has.

    Args:
        values: each document's mean score, 0 to 1, shape (n,); or others with the same mean and standard error.
        per_document: how many answers each document has, on average.
        fewest: how many independent answers there are at least; the number of documents if not given.
        z: a normal quantile; by default of a 95 % interval.
    """
    spread = float(np.std(values, ddof=1)) if len(values) > 1 else 0.0
    return wilson_of_spread(float(values.mean()), spread, len(values), per_document, fewest, z)


def wilson_of_spread(
    p: float, spread: float, n: int, per_document: float, fewest: float | None = None, z: float = Z95
) -> Interval:
    """Returns the interval of a mean p of n documents, from the standard deviation of their scores."""
    if n == 1 or p in (0.0, 1.0):
        return wilson(p * n, n, z)
    from scipy import special

    independent = p * (1 - p) * n / spread**2 if spread > 0 else math.inf
    few = (z / float(special.stdtrit(n - 1, special.ndtr(z)))) ** 2  # where n is small, the error itself is unsure
    effective = min(max(independent, n if fewest is None else fewest), n * per_document) * few
    return wilson(p * effective, effective, z)


def standard_error(values: NDArray[np.float64]) -> float:
    """Returns the standard error of a mean, with n - 1 as the harness has it; NaN for a single value."""
    n = len(values)
    return float(np.std(values, ddof=1) / math.sqrt(n)) if n > 1 else math.nan


def least_error(n_sure: int) -> float:
    """Returns what the standard error of a mean from 0 to 1 is at least, if few documents say how sure it is.

    It is as if one more of them were entirely wrong: where they happen to be alike, they show no error at all.
    """
    return 1 / math.sqrt(n_sure * (n_sure - 1)) if n_sure > 1 else 1.0


Score = Callable[[Array, Array], Array]  # measures of shape (n, k) and weights of shape (b, n) to scores of shape (b,)
STEP = 1e-4  # of a weight, which is 1 without it
ENTRIES = 4_000_000  # of a matrix of weights


def linear_values(metric: Metric, measures: Array) -> Array:
    """Returns a value per document, shape (n,), whose mean is the score and whose spread is its error.

    Args:
        metric: what was measured; where it has no interval, all values are the score.
        measures: one row per document, shape (n, k).
    """
    if metric.is_mean:
        return measures[:, 0]
    if metric.per_document_values is not None:
        return metric.per_document_values(measures)
    whole = float(metric.score(measures, np.ones((1, len(measures))))[0])
    if metric.interval == "none":
        return np.full(len(measures), whole)
    rows, row_of_document, counts = np.unique(measures, axis=0, return_inverse=True, return_counts=True)
    of_rows = slopes_of_weights(metric.score, rows, counts.astype(np.float64))
    slopes = of_rows[row_of_document.ravel()]  # the same where measures are the same
    return np.asarray(whole + len(measures) * (slopes - slopes.mean()))


def slopes_of_weights(score: Score, measures: Array, weights: Array) -> Array:
    """Returns the derivative of a score with respect to each document's weight, by central differences."""
    n = len(measures)
    slopes, size = np.empty(n), max(1, ENTRIES // n)
    for start in range(0, n, size):
        some = np.arange(start, min(start + size, n))
        steps = np.zeros((len(some), n))
        steps[np.arange(len(some)), some] = STEP
        slopes[some] = (score(measures, weights + steps) - score(measures, weights - steps)) / (2 * STEP)
    return slopes
