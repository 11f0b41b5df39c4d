"""F1 of classes, of spans and accuracy of tags."""

from collections import Counter
from functools import partial
from typing import Any, Literal

import numpy as np

from afrieval.scoring.base import CHOICE, SPANS, TEXTS, Array, Metric, Question, Response, ratio
from afrieval.scoring.texts import n_common

Average = Literal["macro", "micro", "weighted"]
NONE = -1  # stands for the class of an unparsed answer: missed by one class, claimed by none


def f1(average: Average = "macro") -> Metric:
    """Returns F1 over the classes that occur, as gold answer or as answer.

    Args:
        average: over classes: `macro`, all alike; `weighted` by their number of gold answers; or
            `micro`, of the counts of all classes together.
    """

    def measure(response: Response, question: Question) -> list[float] | None:
        if not question.choices:
            return None
        return [float(question.gold), float(NONE if response.answer is None else response.answer)]

    return Metric(
        f"f1_{average}", measure, partial(_score_f1, average), interval="bootstrap", applies_to=frozenset({CHOICE})
    )


def _score_f1(average: Average, measures: Array, weights: Array) -> Array:
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


def span_f1(type: str = "") -> Metric:
    """Returns F1 of the entries of lists, micro-averaged over all documents, from 0 to 1.

    2 right / (2 right + wrong + missed), and 1 if there is nothing to find and all answers say so. An
    unparsed answer finds nothing. An entry is right if the other list has it too, as often. It is a text,
    or a span with a type, both of which must be equal. If the tags of a sentence are IOB2, its spans are
    those of seqeval in strict mode (Nakayama 2018).
    """
    name = f"span_f1_{type}" if type else "span_f1"

    def measure(response: Response, question: Question) -> list[float] | None:
        if not isinstance(question.gold, list):
            return None
        answered, gold = _entries(response.answer or [], type), _entries(question.gold, type)
        right = (answered & gold).total()
        unparsed = response.answer is None
        return [float(right), float(answered.total() - right), float(gold.total() - right), float(unparsed)]

    def score(measures: Array, weights: Array) -> Array:
        right, wrong, missed, unparsed = measures.T
        entries = 2 * right + wrong + missed
        share = ratio(np.column_stack([2 * right, entries]), weights)
        return np.where((weights @ entries == 0) & (weights @ unparsed == 0), 1.0, share)

    return Metric(name, measure, score, interval="bootstrap", applies_to=frozenset({SPANS, TEXTS}))


def _entries(listed: list[Any], type: str) -> Counter[Any]:
    entries = [tuple(entry) if isinstance(entry, list) else entry for entry in listed]
    return Counter(entry for entry in entries if not type or entry[0] == type)


def tag_acc() -> Metric:
    """Returns the share of tokens with the right tag, over all documents, from 0 to 1.

    Sum of right / sum of max(tokens of the sentence, tokens of the answer). Right is the longest
    common subsequence of both lists of tokens with tags, so one token too many or too few does not
    make all later ones wrong. A whole answer without changes to its tokens has ordinary accuracy.
    """

    def measure(response: Response, question: Question) -> list[float] | None:
        if not isinstance(question.gold, list) or not all(isinstance(pair, list) for pair in question.gold):
            return None
        gold, answered = [*map(tuple, question.gold)], [*map(tuple, response.answer or [])]
        return [float(n_common(gold, answered)), float(max(len(gold), len(answered)))]

    return Metric("tag_acc", measure, ratio, interval="bootstrap", applies_to=frozenset({SPANS}))
