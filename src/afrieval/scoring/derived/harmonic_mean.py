"""The harmonic mean of several scores."""

from collections.abc import Sequence

import numpy as np

from afrieval.scoring.base import Array, Derived, Input


def harmonic_mean() -> Derived:
    """Returns the harmonic mean, to which the lowest score contributes most; 0 if one of them is 0."""
    return Derived("harmonic_mean", _score)


def _score(inputs: Sequence[Input]) -> Array:
    scores = np.array([given.scores for given in inputs])
    inverse = np.divide(1.0, scores, out=np.full_like(scores, np.inf), where=scores > 0)
    return np.asarray(len(inputs) / inverse.sum(axis=0))
