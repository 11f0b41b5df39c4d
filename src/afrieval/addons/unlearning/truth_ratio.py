"""How likely a text is among others: the truth ratio of TOFU, and the probability among wrong texts."""

import math
from collections.abc import Callable
from typing import Literal

import numpy as np

from afrieval.scoring.base import Array, Metric, Question, Response
from afrieval.scoring.measured import ANSWER, loss_of


def probability_among(correct: str = ANSWER, wrong: str = "perturbed") -> Metric:
    """Returns the mean over documents of p / (p + sum of the p of wrong texts), from 0 to 1.

    TOFU (Maini et al. 2024, section 2.2.1); p is the probability per token, as in `probability`. TOFU's code adds 1e-10
    to the divisor, which matters only where all texts are as unlikely as that; here the sum of shares is 1 there too.
    """

    def measure(response: Response, question: Question) -> list[float] | None:
        right, others = loss_of(correct, response, question), loss_of(wrong, response, question)
        if not right or not others:
            return None
        of_right = np.logaddexp.reduce(-np.array(right)) - np.log(len(right))
        return [float(np.exp(of_right - np.logaddexp.reduce([of_right, *(-each for each in others)])))]

    return Metric("probability_among", measure, interval="bootstrap", needs=("tokens",), roles=(correct, wrong))


Aggregate = Literal["closer_to_one", "true_better", "share"]
VALUES: dict[Aggregate, Callable[[Array], Array]] = {
    "closer_to_one": lambda ratio: np.asarray(np.where(ratio > 1, 1 / np.maximum(ratio, 1), ratio)),
    "true_better": lambda ratio: np.asarray(np.maximum(0, 1 - ratio)),
    "share": lambda ratio: np.asarray(1 / (1 + ratio)),
}
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

    return Metric(
        "truth_ratio",
        measure,
        score,
        interval="bootstrap",
        per_document_values=linear,
        needs=("tokens",),
        roles=(correct, wrong),
    )
