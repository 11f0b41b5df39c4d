"""Metrics of the task memorisation: rows of a test set against unseen rows, and its published order against others."""

from collections.abc import Callable
from typing import Any

import numpy as np

from afrieval.scoring.base import Array, Metric, not_measured, ratio
from afrieval.scoring.derived.combined import weighted_auc

NOTHING = frozenset[str]()  # that a task file declares: the task memorisation measures them


def _against_unseen(name: str, score: Callable[[Array, Array], Array], low: float = 0.0) -> Metric:
    """Returns a metric of rows of a test set and unseen rows; samples do not show which of the two a row is."""
    bounds = (low, 1.0)
    return Metric(
        name,
        not_measured,
        score,
        bounds=bounds,
        interval="bootstrap",
        to_sample=lambda _, measure: measure[0],
        applies_to=NOTHING,
    )


def completion() -> Metric:
    """Returns the share of tokens of second halves that the model would write, of the test set's rows."""
    return _against_unseen("completion", _of_test)


def completion_unseen() -> Metric:
    """Returns the share of tokens of second halves that the model would write, of unseen rows."""
    return _against_unseen("completion_unseen", _of_unseen)


def completion_gain() -> Metric:
    """Returns how much more of the test set's rows the model would write than of unseen rows."""
    return _against_unseen(
        "completion_gain", lambda *arrays: np.asarray(_of_test(*arrays) - _of_unseen(*arrays)), low=-1.0
    )


def extraction() -> Metric:
    """Returns the extraction strength of second halves, of the test set's rows."""
    return _against_unseen("extraction", _of_test)


def extraction_unseen() -> Metric:
    """Returns the extraction strength of second halves, of unseen rows."""
    return _against_unseen("extraction_unseen", _of_unseen)


def membership_auc() -> Metric:
    """Returns the probability that an unseen row has a higher min-k++ (Zhang et al. 2024) than a row of the test set.

    0.5 if the two cannot be distinguished, 1 if all rows of the test set are likelier.
    """
    return _against_unseen("membership_auc", _auc)


def length_auc() -> Metric:
    """Returns the probability that an unseen row is longer than a row of the test set.

    What text length alone can tell: a blind baseline (Das et al. 2024, "Blind Baselines Beat Membership Inference
    Attacks for Foundation Models").
    """
    return _against_unseen("length_auc", _auc)


def _of_test(measures: Array, weights: Array) -> Array:
    return _mean(measures, weights * (measures[:, 1] == 0))


def _of_unseen(measures: Array, weights: Array) -> Array:
    return _mean(measures, weights * (measures[:, 1] == 1))


def _mean(measures: Array, weights: Array) -> Array:
    """Returns weighted means; NaN where there is no weight, as in a resample without an unseen row."""
    total, sums = weights.sum(axis=1), weights @ measures[:, 0]
    return np.asarray(np.where(total > 0, sums / np.maximum(total, 1e-12), np.nan))


def _auc(measures: Array, weights: Array) -> Array:
    values, unseen = measures[:, 0], measures[:, 1] == 1
    return weighted_auc(values[~unseen], values[unseen], weights[:, ~unseen], weights[:, unseen])


def order_gain() -> Metric:
    """Returns the log-likelihood that the published order has above the mean of shuffled ones, in nats per token.

    Each sample is a shard of a test set (see `rows.py`); its measure is the number of tokens,
    then the log-likelihoods of the published order and of the shuffled ones.
    """

    def score(measures: Array, weights: Array) -> Array:
        gains = measures[:, 1] - measures[:, 2:].mean(axis=1)
        return ratio(np.column_stack([gains, measures[:, 0]]), weights)

    def of_shard(answer: Any, measure: list[float]) -> float:
        return float(score(np.array([measure]), np.ones((1, 1)))[0])

    bounds = (-np.inf, np.inf)
    return Metric(
        "order_gain", not_measured, score, bounds=bounds, interval="bootstrap", to_sample=of_shard, applies_to=NOTHING
    )
