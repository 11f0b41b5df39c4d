"""Means of scores, differences to a reference run, and the area under the curve that attacks are judged by."""

import math
from collections.abc import Sequence

import numpy as np

from afrieval.scoring.base import Array, Derived, Input


def harmonic_mean() -> Derived:
    """Returns the harmonic mean, to which the lowest score contributes most; 0 if one of them is 0."""

    def score(inputs: Sequence[Input]) -> Array:
        scores = np.array([given.scores for given in inputs])
        inverse = np.divide(1.0, scores, out=np.full_like(scores, np.inf), where=scores > 0)
        return np.asarray(len(inputs) / inverse.sum(axis=0))

    return Derived("harmonic_mean", score)


def mean() -> Derived:
    """Returns the mean of the scores, each counting the same."""
    return Derived(
        "mean",
        lambda inputs: np.asarray(np.mean([given.scores for given in inputs], axis=0)),
        per_document_values=lambda inputs: np.asarray(np.mean([given.values for given in inputs], axis=0)),
    )


SMALLEST = 1e-9  # of what is divided by


def relative_difference() -> Derived:
    """Returns 100 (score - reference) / |reference|; not defined if the reference's score is 0."""
    bounds = (-math.inf, math.inf)
    return Derived(
        "relative_difference", lambda inputs: relative(*(of.scores for of in inputs)), bounds=bounds, n_inputs=2
    )


def relative(scores: Array, reference: Array) -> Array:
    """Returns the difference in percent of the reference's size; NaN where that is 0.

    open-unlearning adds 1e-10 to the denominator instead, which makes a number without meaning of it, and
    changes all others by less than they are shown with.
    """
    size = np.abs(reference)
    return 100 * np.divide(scores - reference, size, out=np.full_like(size, np.nan), where=size > SMALLEST)


def weighted_auc(low: Array, high: Array, of_low: Array, of_high: Array) -> Array:
    """Returns the probability that a value of `high` is above one of `low`, shape (b,); ties count half.

    It is NaN where one of the two has no weight.

    Args:
        low: values of the first set, shape (n,).
        high: values of the second set, shape (m,).
        of_low: weights, shape (b, n).
        of_high: weights, shape (b, m).
    """
    values = np.concatenate([low, high])
    order = np.argsort(values, kind="stable")
    starts = np.flatnonzero(np.concatenate([[True], np.diff(values[order]) != 0]))
    below = np.add.reduceat(np.hstack([of_low, np.zeros_like(of_high)])[:, order], starts, axis=1)
    above = np.add.reduceat(np.hstack([np.zeros_like(of_low), of_high])[:, order], starts, axis=1)
    pairs = (above * (np.cumsum(below, axis=1) - below / 2)).sum(axis=1)
    total = below.sum(axis=1) * above.sum(axis=1)
    return np.asarray(np.divide(pairs, total, out=np.full_like(pairs, np.nan), where=total > 0))
