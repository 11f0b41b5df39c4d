"""The truth ratio: how likely wrong answers are, relative to a correct one."""

import math
from typing import Literal

import numpy as np

from afrieval.scoring.base import Array, Metric, Question, Response
from afrieval.scoring.measured import loss_of

Aggregate = Literal["closer_to_one", "true_better", "share"]
HIGHEST = 690.0  # logarithm of the highest ratio that is stored; beyond, ratios are equal


def truth_ratio(
    correct: str = "paraphrased", wrong: str = "perturbed", aggregate: Aggregate = "closer_to_one"
) -> Metric:
    """Returns the mean over documents of a value of the truth ratio R, from 0 to 1.

    TOFU (Maini et al. 2024, section 2.2.1): R is the mean of the probabilities per token of wrong texts, divided by
    that of correct ones. The mean is geometric, as in the authors' code; the paper's formula has an arithmetic one.
    R itself is stored, for the test of forget quality. It is computed from the
    difference of losses, so that no probability underflows; the highest that is stored is exp(690).

    Args:
        correct: the role of the correct texts.
        wrong: the role of the wrong texts.
        aggregate: the value. `closer_to_one`: min(R, 1 / R), for texts that should be forgotten, where no preference
            is best. `true_better`: max(0, 1 - R), for texts that should be known. `share`: 1 / (1 + R), the
            probability of a correct text among the two.
    """

    def measure(response: Response, question: Question) -> list[float] | None:
        right, others = loss_of(correct, response, question), loss_of(wrong, response, question)
        if not right or not others:
            return None
        return [math.exp(min(float(np.mean(right) - np.mean(others)), HIGHEST))]

    def linear(measures: Array) -> Array:
        return VALUES[aggregate](measures[:, 0])

    def score(measures: Array, weights: Array) -> Array:
        return np.asarray(weights @ linear(measures) / weights.sum(axis=1))

    return Metric("truth_ratio", measure, score, interval="bootstrap", linear=linear, needs=("tokens",))


def _closer_to_one(ratio: Array) -> Array:
    return np.asarray(np.where(ratio > 1, 1 / np.maximum(ratio, 1), ratio))


def _true_better(ratio: Array) -> Array:
    return np.asarray(np.maximum(0, 1 - ratio))


def _share(ratio: Array) -> Array:
    return np.asarray(1 / (1 + ratio))


VALUES = {"closer_to_one": _closer_to_one, "true_better": _true_better, "share": _share}
