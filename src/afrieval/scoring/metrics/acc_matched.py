"""Accuracy if each label were picked equally often: prior matching (Liusie, Manakul & Gales 2023).

A label word is likely or not whatever the question: because it is short, common, or named last in the
prompt. A constant per label is added to the log-likelihoods, such that over a cell's questions no label
is favoured. Scores with label words of different lengths can then be compared. All questions must have
the same choices, about equally often right.
"""

import numpy as np

from afrieval.scoring.base import Array, Metric, Question, Response
from afrieval.scoring.choice import LOWEST, TIE

SWEEPS = 100


def acc_matched() -> Metric:
    """Returns accuracy with constants added to the labels' log-likelihoods that make all labels equally frequent."""
    return Metric("acc_matched", _measure, of_cell=_right, calibrated=True)


def _measure(response: Response, question: Question) -> list[float] | None:
    if not response.likelihoods:
        return None
    return [float(question.gold), *(max(given.loglikelihood, LOWEST) for given in response.likelihoods)]


def _right(measures: Array) -> Array:
    """Returns whether each document's label is the gold one, shape (n, 1); ties as in `scoring.choice`."""
    gold, loglikelihoods = measures[:, 0], measures[:, 1:]
    matched = loglikelihoods + _constants(loglikelihoods)
    sizes = np.where(loglikelihoods > LOWEST, np.abs(loglikelihoods), 1.0)  # an impossible label makes no ties
    slack = TIE * np.maximum(1.0, sizes.max(axis=1, keepdims=True))
    picked = (matched >= matched.max(axis=1, keepdims=True) - slack).argmax(axis=1)
    return np.asarray(picked == gold, dtype=np.float64)[:, None]


def _constants(loglikelihoods: Array) -> Array:
    """Returns a constant per label, shape (k,): each in turn is set so that its label is the best of its share."""
    k = loglikelihoods.shape[1]
    constants = -loglikelihoods.mean(axis=0)
    for _ in range(SWEEPS):
        counts = np.bincount((loglikelihoods + constants).argmax(axis=1), minlength=k)
        if np.ptp(counts) <= 1:
            break
        before = constants.copy()
        for label in range(k):
            others = np.delete(loglikelihoods + constants, label, axis=1).max(axis=1)
            constants[label] = -np.quantile(loglikelihoods[:, label] - others, 1 - 1 / k)
        if np.array_equal(before, constants):  # ties: further sweeps change nothing
            break
    return np.asarray(constants)
