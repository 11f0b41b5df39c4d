"""F1 and correlation of a number for each of several labels: 0 or 1, or how strongly a label applies."""

from collections.abc import Callable
from functools import partial
from typing import Literal

import numpy as np

from afrieval.scoring.base import LEVELS, Array, Metric, Question, Response


def label_f1(average: Literal["macro", "micro"] = "macro", label: str = "", without: list[str] | None = None) -> Metric:
    """Returns F1 of labels of which any number may apply, from 0 to 1.

    2 right / (2 right + wrong + missed) over all documents. A label that is in no right answer and no answer is left
    out; if all are, the score is 1 unless an answer is unparsed. An unparsed answer names no label.

    Args:
        average: `macro`, the mean over labels, as in SemEval-2025 task 11; or `micro`, of the counts of all together.
        label: the label whose F1 it is instead.
        without: codes of the languages that do not have this label.
    """
    return _of_labels("label_f1", label or average, label, without, partial(_score_f1, average), (0.0, 1.0))


def pearson(label: str = "", without: list[str] | None = None) -> Metric:
    """Returns the mean over labels of Pearson's correlation between right and given numbers, from -1 to 1.

    It is 0 if all answers have the same number. A label whose right numbers are all the same is left out; if all are,
    as those of a single document, the score is 1 if all numbers are right, and else 0. An unparsed answer has the
    number 0 for each label, as in SemEval-2025 task 11.

    Args:
        label: the label whose correlation it is instead.
        without: codes of the languages that do not have this label.
    """
    return _of_labels("pearson", label, label, without, _score_pearson, (-1.0, 1.0))


def _of_labels(
    name: str,
    part: str,
    label: str,
    without: list[str] | None,
    score: Callable[[Array, Array], Array],
    bounds: tuple[float, float],
) -> Metric:
    """Returns a metric with these measures: right numbers of the labels, given ones, and 1 for an unparsed answer."""

    def measure(response: Response, question: Question) -> list[float] | None:
        if not is_rated(question.gold):
            return None
        answer, labels = response.answer or {}, [label] if label else [*question.gold]
        pairs = [float(of.get(name, 0)) for of in (question.gold, answer) for name in labels]
        return [*pairs, float(response.answer is None)]

    def missing(language: str) -> str:
        return f"its data do not have the label {label}" if language in (without or ()) else ""

    name = f"{name}_{part}" if part else name
    return Metric(
        name, measure, score, bounds=bounds, interval="bootstrap", missing=missing, applies_to=frozenset({LEVELS})
    )


def is_rated(gold: object) -> bool:
    """Returns whether a right answer is a map of label to number."""
    return isinstance(gold, dict) and bool(gold) and all(isinstance(number, int) for number in gold.values())


def _score_f1(average: str, measures: Array, weights: Array) -> Array:
    gold, answered = (of > 0 for of in _halves(measures))
    right, both = weights @ (gold & answered).astype(np.float64), weights @ (gold.astype(np.float64) + answered)
    if average == "micro":
        right, both = (of.sum(axis=1, keepdims=True) for of in (right, both))
    occurs = both > 0
    f1 = np.divide(2 * right, both, out=np.zeros_like(right), where=occurs).sum(axis=1)
    unparsed = weights @ measures[:, -1]
    return np.asarray(np.where(occurs.any(axis=1), f1 / np.maximum(occurs.sum(axis=1), 1), unparsed == 0))


def _score_pearson(measures: Array, weights: Array) -> Array:
    gold, answered = _halves(measures)
    n = weights.sum(axis=1, keepdims=True)
    means = [weights @ of / n for of in (gold, answered)]
    products = [weights @ (a * b) / n for a, b in ((gold, gold), (answered, answered), (gold, answered))]
    of_gold, of_given = (np.maximum(product - mean**2, 0) for product, mean in zip(products[:2], means, strict=True))
    varies, spread = of_gold > ROUNDING, np.sqrt(of_gold * of_given)
    covariance = products[2] - means[0] * means[1]
    vary_both = varies & (of_given > ROUNDING)
    r = np.divide(covariance, spread, out=np.zeros_like(spread), where=vary_both).clip(-1, 1)
    faults = weights @ ((gold != answered).any(axis=1) | (measures[:, -1] > 0)).astype(np.float64)
    return np.asarray(np.where(varies.any(axis=1), r.sum(axis=1) / np.maximum(varies.sum(axis=1), 1), faults == 0))


ROUNDING = 1e-12


def _halves(measures: Array) -> tuple[Array, Array]:
    half = (measures.shape[1] - 1) // 2
    return measures[:, :half], measures[:, half : 2 * half]
