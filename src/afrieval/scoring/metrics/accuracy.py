"""Accuracies of choices, by likelihood and its normalisations, and of exact answers."""

from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Literal

import numpy as np

from afrieval.scoring.base import CHOICE, LEVELS, NUMBER, REFERENCES, Array, Metric, Question, Response
from afrieval.scoring.mathematics.same_answer import same_answer
from afrieval.scoring.metrics.ratings import is_rated
from afrieval.scoring.responses import LOWEST, TIE, best, best_per
from afrieval.scoring.texts import references, same_text

OF_CHOICES = frozenset({CHOICE})


def acc() -> Metric:
    """Returns accuracy; a choice with the text of the gold choice is right too."""

    def measure(response: Response, question: Question) -> list[float] | None:
        return right(response.answer, question) if question.choices else None

    return Metric("acc", measure, applies_to=OF_CHOICES)


def right(picked: int | None, question: Question) -> list[float]:
    """Returns whether a choice is right."""
    choices = question.choices
    return [float(picked is not None and choices[picked] == choices[question.gold])]


def acc_bytes() -> Metric:
    """Returns accuracy of the choice with the highest log-likelihood per UTF-8 byte."""
    return _per("acc_bytes", lambda response, question: [len(name.encode()) for name in question.names])


def _per(
    name: str, lengths: Callable[[Response, Question], Sequence[int | None]], counts_tokens: bool = False
) -> Metric:
    def measure(response: Response, question: Question) -> list[float] | None:
        picked = best_per(response.likelihoods, lengths(response, question))
        return None if picked is None else right(picked if response.answer is not None else None, question)

    return Metric(name, measure, applies_to=OF_CHOICES, responses="likelihoods", counts_tokens=counts_tokens)


ROUNDS = 100


def acc_matched() -> Metric:
    """Returns accuracy with constants added to the labels' log-likelihoods that make all labels equally frequent."""

    def measure(response: Response, question: Question) -> list[float] | None:
        if not response.likelihoods:
            return None
        return [float(question.gold), *(max(given.loglikelihood, LOWEST) for given in response.likelihoods)]

    return Metric(
        "acc_matched",
        measure,
        normalise_over_cell=_right,
        calibrated=True,
        applies_to=OF_CHOICES,
        responses="likelihoods",
    )


def _right(measures: Array) -> Array:
    """Returns whether each document's label is the gold one, shape (n, 1); ties as in `scoring.responses`."""
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
    for _ in range(ROUNDS):
        counts = np.bincount((loglikelihoods + constants).argmax(axis=1), minlength=k)
        if np.ptp(counts) <= 1:
            break
        before = constants.copy()
        for label in range(k):
            others = np.delete(loglikelihoods + constants, label, axis=1).max(axis=1)
            constants[label] = -np.quantile(loglikelihoods[:, label] - others, 1 - 1 / k)
        if np.array_equal(before, constants):  # ties: further rounds change nothing
            break
    return np.asarray(constants)


def acc_norm() -> Metric:
    """Returns accuracy of the choice with the highest log-likelihood per character."""
    return _per("acc_norm", lambda response, question: [len(name) for name in question.names])


def acc_pmi() -> Metric:
    """Returns accuracy of the label that becomes more likely by the question than all others."""

    def measure(response: Response, question: Question) -> list[float] | None:
        if not response.likelihoods or not response.neutral:
            return None
        after = np.maximum([given.loglikelihood for given in response.likelihoods], LOWEST)
        return right(best((after - np.maximum(response.neutral, LOWEST).mean(axis=0)).tolist()), question)

    return Metric(
        "acc_pmi", measure, calibrated=True, needs_neutral=True, applies_to=OF_CHOICES, responses="likelihoods"
    )


def acc_tokens() -> Metric:
    """Returns accuracy of the choice with the highest log-likelihood per token of the model."""
    return _per("acc_tokens", lambda response, question: [given.n_tokens for given in response.likelihoods], True)


def exact_match(same: Literal["text", "mathematics"] = "text") -> Metric:
    """Returns exact match; of several right answers, any will do, and of numbers for labels, all must be right.

    Args:
        same: when two texts are the same: as short texts, or as mathematics in LaTeX. Numbers are
            the same if their values are.
    """
    of_texts = {"text": same_text, "mathematics": same_answer}[same]

    def measure(response: Response, question: Question) -> list[float] | None:
        answer, gold = response.answer, question.gold
        if is_rated(gold):
            return [float(answer == gold)]
        if question.choices:
            return None
        if texts := references(gold):
            return [float(isinstance(answer, str) and any(of_texts(answer, text) for text in texts))]
        if not isinstance(gold, int | float):
            return None
        return [float(answer is not None and Decimal(answer) == Decimal(gold))]

    return Metric("exact_match", measure, applies_to=REFERENCES | {LEVELS, NUMBER})
