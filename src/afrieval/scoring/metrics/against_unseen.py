"""What a model knows of the rows of a test set, against rows that it cannot have seen.

The measure of a row is a number and 1 for an unseen row, 0 for a row of the test set. `tasks/memorisation/parts.py`
measures it.
"""

from typing import Any

import numpy as np

from afrieval.scoring.base import Array, Metric, Question, Response
from afrieval.scoring.derived.auc import weighted_auc


def completion() -> Metric:
    """Returns the share of tokens of second halves that the model would write, of the test set's rows."""
    return Metric("completion", _not_measured, _of_test, interval="bootstrap", shown=_value)


def completion_unseen() -> Metric:
    """Returns the same of unseen rows."""
    return Metric("completion_unseen", _not_measured, _of_unseen, interval="bootstrap", shown=_value)


def completion_gain() -> Metric:
    """Returns how much more of the test set's rows the model would write than of unseen rows."""
    return Metric("completion_gain", _not_measured, _gain, bounds=(-1.0, 1.0), interval="bootstrap", shown=_value)


def extraction() -> Metric:
    """Returns the extraction strength of second halves, of the test set's rows."""
    return Metric("extraction", _not_measured, _of_test, interval="bootstrap", shown=_value)


def extraction_unseen() -> Metric:
    """Returns the same of unseen rows."""
    return Metric("extraction_unseen", _not_measured, _of_unseen, interval="bootstrap", shown=_value)


def membership_auc() -> Metric:
    """Returns the probability that an unseen row has a higher min-k++ (Zhang et al. 2024) than a row of the test set.

    0.5 if the two cannot be told apart, 1 if all rows of the test set are likelier.
    """
    return Metric("membership_auc", _not_measured, _auc, interval="bootstrap", shown=_value)


def length_auc() -> Metric:
    """Returns the probability that an unseen row is longer than a row of the test set.

    What text length alone can tell: a blind baseline (Das et al. 2024, "Blind Baselines Beat Membership Inference
    Attacks for Foundation Models").
    """
    return Metric("length_auc", _not_measured, _auc, interval="bootstrap", shown=_value)


def _of_test(measures: Array, weights: Array) -> Array:
    return _mean(measures, weights * (measures[:, 1] == 0))


def _of_unseen(measures: Array, weights: Array) -> Array:
    return _mean(measures, weights * (measures[:, 1] == 1))


def _gain(measures: Array, weights: Array) -> Array:
    return np.asarray(_of_test(measures, weights) - _of_unseen(measures, weights))


def _mean(measures: Array, weights: Array) -> Array:
    """Returns weighted means; NaN where there is no weight, as in a resample without an unseen row."""
    total, sums = weights.sum(axis=1), weights @ measures[:, 0]
    return np.asarray(np.where(total > 0, sums / np.maximum(total, 1e-12), np.nan))


def _auc(measures: Array, weights: Array) -> Array:
    values, unseen = measures[:, 0], measures[:, 1] == 1
    return weighted_auc(values[~unseen], values[unseen], weights[:, ~unseen], weights[:, unseen])


def _value(answer: Any, measure: list[float]) -> float:
    """Returns the number of a row; where the row is from is not shown."""
    return measure[0]


def _not_measured(response: Response, question: Question) -> list[float] | None:
    """No document of a task has it: it is of a row of a test set or an unseen row."""
    return None
