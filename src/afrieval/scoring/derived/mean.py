"""The mean of several scores."""

from collections.abc import Sequence

import numpy as np

from afrieval.scoring.base import Array, Derived, Input


def mean() -> Derived:
    """Returns the mean of the scores, each counting the same."""
    return Derived("mean", _score, linear=_linear)


def _score(inputs: Sequence[Input]) -> Array:
    return np.mean([given.scores for given in inputs], axis=0)  # type: ignore[no-any-return]


def _linear(inputs: Sequence[Input]) -> Array:
    return np.mean([given.values for given in inputs], axis=0)  # type: ignore[no-any-return]
