"""What each document adds to a score: values whose mean is the score and whose spread is its error.

For a mean these are the scores of the documents. For any other metric they are what the infinitesimal jackknife makes
of it (Jaeckel 1972; Efron 1982, "The Jackknife, the Bootstrap and Other Resampling Plans", chapter 6): the score, plus
the number of documents times the score's derivative with respect to the document's weight. So errors, and means over
prompts and languages, work for every metric as they do for means.
"""

from collections.abc import Callable

import numpy as np

from afrieval.scoring.base import Array, Metric

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
    if metric.linear is not None:
        return metric.linear(measures)
    whole = float(metric.score(measures, np.ones((1, len(measures))))[0])
    if metric.interval == "none":
        return np.full(len(measures), whole)
    rows, place, counts = np.unique(measures, axis=0, return_inverse=True, return_counts=True)
    of_rows = slopes_of_weights(metric.score, rows, counts.astype(np.float64))
    slopes = of_rows[place.ravel()]  # the same where measures are the same
    return np.asarray(whole + len(measures) * (slopes - slopes.mean()))


def slopes_of_weights(score: Score, measures: Array, weights: Array) -> Array:
    """Returns the derivative of a score with respect to each document's weight, by central differences.

    Args:
        score: of a metric.
        measures: one row per document, shape (n, k).
        weights: of the documents, shape (n,).
    """
    n = len(measures)
    slopes, size = np.empty(n), max(1, ENTRIES // n)
    for start in range(0, n, size):
        some = np.arange(start, min(start + size, n))
        steps = np.zeros((len(some), n))
        steps[np.arange(len(some)), some] = STEP
        slopes[some] = (score(measures, weights + steps) - score(measures, weights - steps)) / (2 * STEP)
    return slopes
