"""F1 of lists, such as the names in a sentence: what was found, what is there, over all documents."""

from collections import Counter

import numpy as np

from afrieval.scoring.base import Array, Metric, Question, Response, ratio


def span_f1() -> Metric:
    """Returns F1 of the entries of lists, counted over all documents; each entry has to be the same text."""
    return Metric("span_f1", _measure, _score, interval="bootstrap")


def _measure(response: Response, question: Question) -> list[float] | None:
    if not isinstance(question.gold, list):
        return None
    given, gold = Counter(response.answer or []), Counter(question.gold)
    right = (given & gold).total()
    return [float(right), float(given.total() - right), float(gold.total() - right)]


def _score(measures: Array, weights: Array) -> Array:
    right, wrong, missed = measures.T
    return ratio(np.column_stack([2 * right, 2 * right + wrong + missed]), weights)
