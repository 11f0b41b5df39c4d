"""The relative difference of a score to that of a reference run."""

import math
from collections.abc import Sequence

import numpy as np

from afrieval.scoring.base import Array, Derived, Input

SMALLEST = 1e-9  # of what is divided by


def relative_difference() -> Derived:
    """Returns 100 (score - reference) / |reference|; not defined if the reference's score is 0."""
    return Derived("relative_difference", _score, bounds=(-math.inf, math.inf), n_inputs=2)


def _score(inputs: Sequence[Input]) -> Array:
    own, reference = inputs
    return relative(own.scores, reference.scores)


def relative(scores: Array, reference: Array) -> Array:
    """Returns the difference in percent of the reference's size; NaN where that is 0.

    open-unlearning adds 1e-10 to the denominator instead, which makes a number without meaning of it, and
    changes all others by less than they are shown with.

    Args:
        scores: shape (b,).
        reference: shape (b,).
    """
    size = np.abs(reference)
    return 100 * np.divide(scores - reference, size, out=np.full_like(size, np.nan), where=size > SMALLEST)
