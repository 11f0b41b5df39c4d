"""F1 of a classification: precision and recall of each class, averaged."""

from functools import partial
from typing import Literal

import numpy as np

from afrieval.scoring.base import Array, Metric, Question, Response

Average = Literal["macro", "micro", "weighted"]
NONE = -1  # stands for the class of an unparsed answer: missed by one class, claimed by none


def f1(average: Average = "macro") -> Metric:
    """Returns F1 over the classes that occur, as gold answer or as answer.

    Args:
        average: over classes: `macro`, all alike; `weighted` by their number of gold answers; or
            `micro`, of the counts of all classes together.
    """
    return Metric(f"f1_{average}", _measure, partial(_score, average), interval="bootstrap")


def _measure(response: Response, question: Question) -> list[float] | None:
    if not question.choices:
        return None
    return [float(question.gold), float(NONE if response.answer is None else response.answer)]


def _score(average: Average, measures: Array, weights: Array) -> Array:
    """Returns scores from one weighted confusion table per row of weights, shape (b,)."""
    gold, picked = measures.T
    classes = np.setdiff1d(measures, [NONE])
    is_gold, is_picked = gold[:, None] == classes, picked[:, None] == classes
    right = weights @ (is_gold & is_picked).astype(np.float64)
    n_gold, n_picked = weights @ is_gold.astype(np.float64), weights @ is_picked.astype(np.float64)
    if average == "micro":
        right, n_gold, n_picked = (of.sum(axis=1, keepdims=True) for of in (right, n_gold, n_picked))
    occurs = n_gold + n_picked > 0
    each = np.divide(2 * right, n_gold + n_picked, out=np.zeros_like(right), where=occurs)
    shares = n_gold if average == "weighted" else occurs.astype(np.float64)
    return np.asarray((each * shares).sum(axis=1) / shares.sum(axis=1))
