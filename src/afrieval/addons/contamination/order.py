"""The exchangeability test of rows in their published order, and its power."""

import math
from collections.abc import Callable
from statistics import NormalDist

import numpy as np

from afrieval.scoring.base import Array, Derived, Input

CHOICES, SEED = 9_999, 42
ENTRIES = 2_000_000  # of a matrix of choices
SLACK = 1e-9  # of the largest sum, for rounding


def order_p() -> Derived:
    """Returns the one-sided p-value of a metric whose measures are a size and a number for each order."""
    return _of_orders("order_p", lambda metric: exchangeability_p(metric.measures[:, 1:]), 1.0)


def _of_orders(name: str, value: Callable[[Input], float], highest: float) -> Derived:
    """Returns a derived metric of one input, the same for all rows of weights."""
    return Derived(
        name,
        lambda inputs: np.full(len(inputs[0].weights), value(inputs[0])),
        higher_is_better=False,
        bounds=(0.0, highest),
        interval="none",
        n_inputs=1,
        needs="orders",
    )


def exchangeability_p(orders: Array, choices: int = CHOICES) -> float:
    """Returns the p-value of published orders against others.

    Args:
        orders: a number for each order of each shard, shape (shards, k); the first is of the published order.
        choices: how many choices of orders are drawn.
    """
    n, k = orders.shape
    centred = orders - orders.mean(axis=1, keepdims=True)
    observed = centred[:, 0].sum()
    slack = SLACK * max(1.0, float(np.abs(centred).max(axis=1).sum()))
    rng, as_high, step = np.random.default_rng(SEED), 0, max(1, ENTRIES // n)
    for start in range(0, choices, step):
        chosen = rng.integers(0, k, (min(step, choices - start), n))
        as_high += int(np.sum(centred[np.arange(n), chosen].sum(axis=1) >= observed - slack))
    return (as_high + 1) / (choices + 1)


LEVEL, POWER = 0.01, 0.8  # of a test that accuses, which is stricter than tests of comparisons


def order_visible() -> Derived:
    """Returns the smallest gain, in the unit of the metric, that the test finds four times out of five at 1 %."""
    return _of_orders("order_visible", lambda metric: smallest_gain(metric.measures), math.inf)


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
