"""Means of scores, and differences to a reference run."""

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
