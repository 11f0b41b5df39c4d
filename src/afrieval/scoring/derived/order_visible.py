"""The power of the exchangeability test: the smallest gain that it would have found."""

import math
from collections.abc import Sequence
from statistics import NormalDist

import numpy as np

from afrieval.scoring.base import Array, Derived, Input

LEVEL, POWER = 0.01, 0.8  # of a test that accuses: its level is stricter than that of comparisons


def order_visible() -> Derived:
    """Returns the smallest gain, in the unit of the metric, that the test finds four times out of five at 1 %."""
    return Derived(
        "order_visible",
        _score,
        higher_is_better=False,
        bounds=(0.0, math.inf),
        interval="none",
        n_inputs=1,
        needs="orders",
    )


def _score(inputs: Sequence[Input]) -> Array:
    (given,) = inputs
    return np.full(len(given.weights), smallest_gain(given.measures))


def smallest_gain(measures: Array, tests: int = 1) -> float:
    """Returns the smallest gain that the test finds with 80 % power; infinity if it cannot find any.

    The sum over shards of one order each is about normal, with the sum of the variances between the shuffled orders. A
    gain of the published order moves the mean of the chosen orders as well, by one part in k.

    Args:
        measures: as of `order_gain`, shape (shards, 1 + k).
        tests: how many p-values are looked at together, by Holm's method.
    """
    sizes, shuffled = measures[:, 0], measures[:, 2:]
    k, level = measures.shape[1] - 1, LEVEL / tests
    if len(measures) * math.log(k) < -math.log(level):  # the smallest p-value that there can be is above the level
        return math.inf
    normal, spread = NormalDist(), math.sqrt(float(shuffled.var(axis=1, ddof=1).sum()))
    z = normal.inv_cdf(1 - level) + normal.inv_cdf(POWER)
    return float(z * spread * k / (k - 1) / sizes.sum())
