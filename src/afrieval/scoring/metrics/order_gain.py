"""How much likelier rows are in the order in which they were published than in others."""

from typing import Any

import numpy as np

from afrieval.scoring.base import Array, Metric, Question, Response, ratio


def order_gain() -> Metric:
    """Returns the log-likelihood that the published order has above the mean of shuffled ones, in nats per token.

    Each sample is a shard of a test set (see `tasks/memorisation/orders.py`); its measure is the number of tokens,
    then the log-likelihoods of the published order and of the shuffled ones.
    """
    return Metric("order_gain", _not_measured, _score, bounds=(-np.inf, np.inf), interval="bootstrap", shown=_gain)


def _score(measures: Array, weights: Array) -> Array:
    gains = measures[:, 1] - measures[:, 2:].mean(axis=1)
    return ratio(np.column_stack([gains, measures[:, 0]]), weights)


def _gain(answer: Any, measure: list[float]) -> float:
    """Returns the gain of a shard by itself."""
    return float(_score(np.array([measure]), np.ones((1, 1)))[0])


def _not_measured(response: Response, question: Question) -> list[float] | None:
    """No document of a task has it: it is of a shard."""
    return None
