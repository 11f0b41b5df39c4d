"""The area under the ROC curve: how well a number of each document tells two sets of documents apart."""

from collections.abc import Sequence

import numpy as np

from afrieval.scoring.base import Array, Derived, Input

LOW = 0.1  # AUCs below it are far from the 0.5 of a model that has not seen the texts


def auc() -> Derived:
    """Returns the probability that a document of the second input has a higher value than one of the first.

    Equal values count half. With losses of texts that a model was trained on first, and of texts that it has
    not seen second, it is the AUC of a membership attack: 1 if all training texts are more likely, 0.5 if the
    two cannot be told apart, and below 0.5 if training texts are less likely than unseen ones.
    """
    return Derived("auc", _score, bounds=(0.0, 1.0), n_inputs=2, needs="documents", remark=of_attack)


def of_attack(score: float) -> str:
    """Returns what an AUC of a membership attack near 0 means."""
    return "an AUC near 0 is over-forgetting: texts to forget are less likely than unseen ones" if score < LOW else ""


def _score(inputs: Sequence[Input]) -> Array:
    low, high = inputs
    return weighted_auc(low.measures[:, 0], high.measures[:, 0], low.weights, high.weights)


def weighted_auc(low: Array, high: Array, of_low: Array, of_high: Array) -> Array:
    """Returns the probability that a value of `high` is above one of `low`, shape (b,); ties count half.

    It is NaN where one of the two has no weight.

    Args:
        low: values of the first set, shape (n,).
        high: values of the second set, shape (m,).
        of_low: weights, shape (b, n).
        of_high: weights, shape (b, m).
    """
    values = np.concatenate([low, high])
    order = np.argsort(values, kind="stable")
    starts = np.flatnonzero(np.concatenate([[True], np.diff(values[order]) != 0]))
    below = np.add.reduceat(np.hstack([of_low, np.zeros_like(of_high)])[:, order], starts, axis=1)
    above = np.add.reduceat(np.hstack([np.zeros_like(of_low), of_high])[:, order], starts, axis=1)
    pairs = (above * (np.cumsum(below, axis=1) - below / 2)).sum(axis=1)
    total = below.sum(axis=1) * above.sum(axis=1)
    return np.asarray(np.divide(pairs, total, out=np.full_like(pairs, np.nan), where=total > 0))
