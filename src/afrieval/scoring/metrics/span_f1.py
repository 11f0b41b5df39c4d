"""F1 of lists, such as the names in a sentence: what was found, what is there, over all documents."""

from collections import Counter
from typing import Any

import numpy as np

from afrieval.scoring.base import Array, Metric, Question, Response, ratio


def span_f1(type: str = "") -> Metric:
    """Returns F1 of the entries of lists, micro-averaged over all documents, from 0 to 1.

    2 right / (2 right + wrong + missed), and 1 if there is nothing to find and all answers say so. An
    unparsed answer finds nothing. An entry is right if the other list has it too, as often. It is a text,
    or a span with a type, both of which must be equal. If the tags of a sentence are IOB2, its spans are
    those of seqeval in strict mode (Nakayama 2018).

    Args:
        type: the type of the spans that count; all if empty.
    """
    name = f"span_f1_{type}" if type else "span_f1"

    def measure(response: Response, question: Question) -> list[float] | None:
        if not isinstance(question.gold, list):
            return None
        given, gold = _entries(response.answer or [], type), _entries(question.gold, type)
        right = (given & gold).total()
        unparsed = response.answer is None
        return [float(right), float(given.total() - right), float(gold.total() - right), float(unparsed)]

    return Metric(name, measure, _score, interval="bootstrap")


def _entries(listed: list[Any], type: str) -> Counter[Any]:
    entries = [tuple(entry) if isinstance(entry, list) else entry for entry in listed]
    return Counter(entry for entry in entries if not type or entry[0] == type)


def _score(measures: Array, weights: Array) -> Array:
    right, wrong, missed, unparsed = measures.T
    every = 2 * right + wrong + missed
    share = ratio(np.column_stack([2 * right, every]), weights)
    return np.where((weights @ every == 0) & (weights @ unparsed == 0), 1.0, share)
