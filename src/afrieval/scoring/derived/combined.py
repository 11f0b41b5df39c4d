"""Means of scores, and differences to a reference run."""

import math
from collections.abc import Sequence

import numpy as np

from afrieval.scoring.base import Array, Derived, Input


def harmonic_mean() -> Derived:
    """Returns the harmonic mean, to which the lowest score contributes most; 0 if one of them is 0."""
    return Derived("harmonic_mean", _score_harmonic_mean)


def _score_harmonic_mean(inputs: Sequence[Input]) -> Array:
    scores = np.array([given.scores for given in inputs])
    inverse = np.divide(1.0, scores, out=np.full_like(scores, np.inf), where=scores > 0)
    return np.asarray(len(inputs) / inverse.sum(axis=0))


def mean() -> Derived:
    """Returns the mean of the scores, each counting the same."""
    return Derived("mean", _score_mean, per_document_values=_linear)


def _score_mean(inputs: Sequence[Input]) -> Array:
    return np.mean([given.scores for given in inputs], axis=0)  # type: ignore[no-any-return]


def _linear(inputs: Sequence[Input]) -> Array:
    return np.mean([given.values for given in inputs], axis=0)  # type: ignore[no-any-return]


SMALLEST = 1e-9  # of what is divided by


def relative_difference() -> Derived:
    """Returns 100 (score - reference) / |reference|; not defined if the reference's score is 0."""
    return Derived("relative_difference", _score_relative_difference, bounds=(-math.inf, math.inf), n_inputs=2)


def _score_relative_difference(inputs: Sequence[Input]) -> Array:
    own, reference = inputs
    return relative(own.scores, reference.scores)


def relative(scores: Array, reference: Array) -> Array:
    """Returns the difference in percent of the reference's size; NaN where that is 0.

    open-unlearning adds 1e-10 to the denominator instead, which makes a number without meaning of it, and
    changes all others by less than they are shown with.
    """
    size = np.abs(reference)
    return 100 * np.divide(scores - reference, size, out=np.full_like(size, np.nan), where=size > SMALLEST)
