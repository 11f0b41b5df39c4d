"""The exchangeability test: are rows likelier in the order in which they were published than in others?

Oren et al. 2023, "Proving Test Set Contamination in Black Box Language Models", with an exact p-value. If a model has
not seen the rows, and their order is arbitrary, each of a shard's orders was as likely to be the published one. The
test therefore chooses one order of each shard at random, many times, and counts how often the sum of log-likelihoods
is at least that of the published orders. The choice that was observed counts as one more (Phipson & Smyth 2010), so
that the p-value holds for any number of shards, however their log-likelihoods are distributed.
"""

from collections.abc import Sequence

import numpy as np

from afrieval.scoring.base import Array, Derived, Input

CHOICES, SEED = 9_999, 42
ENTRIES = 2_000_000  # of a matrix of choices
SLACK = 1e-9  # of the largest sum, for rounding


def order_p() -> Derived:
    """Returns the one-sided p-value of a metric whose measures are a size and a number for each order."""
    return Derived(
        "order_p", _score, higher_is_better=False, bounds=(0.0, 1.0), interval="none", n_inputs=1, needs="orders"
    )


def _score(inputs: Sequence[Input]) -> Array:
    (given,) = inputs
    return np.full(len(given.weights), exchangeability_p(given.measures[:, 1:]))


def exchangeability_p(orders: Array, choices: int = CHOICES, seed: int = SEED) -> float:
    """Returns the p-value of published orders against others.

    Args:
        orders: a number for each order of each shard, shape (shards, k); the first is of the published order.
        choices: how many choices of orders are drawn.
        seed: of these.
    """
    n, k = orders.shape
    centred = orders - orders.mean(axis=1, keepdims=True)
    observed = centred[:, 0].sum()
    slack = SLACK * max(1.0, float(np.abs(centred).max(axis=1).sum()))
    rng, as_high, step = np.random.default_rng(seed), 0, max(1, ENTRIES // n)
    for start in range(0, choices, step):
        chosen = rng.integers(0, k, (min(step, choices - start), n))
        as_high += int(np.sum(centred[np.arange(n), chosen].sum(axis=1) >= observed - slack))
    return (as_high + 1) / (choices + 1)
