"""The probability of the correct text among it and wrong ones."""

import numpy as np

from afrieval.scoring.base import Metric, Question, Response
from afrieval.scoring.measured import ANSWER, loss_of


def probability_among(correct: str = ANSWER, wrong: str = "perturbed") -> Metric:
    """Returns the mean over documents of p / (p + sum of the p of wrong texts), from 0 to 1.

    TOFU (Maini et al. 2024, section 2.2.1); p is the probability per token, as in `probability`. TOFU's code adds 1e-10
    to the divisor, which matters only where all texts are as unlikely as that; here the sum of shares is 1 there too.

    Args:
        correct: the role of the correct texts; of several in a document, their mean.
        wrong: the role of the wrong ones.
    """

    def measure(response: Response, question: Question) -> list[float] | None:
        right, others = loss_of(correct, response, question), loss_of(wrong, response, question)
        if not right or not others:
            return None
        of_right = np.logaddexp.reduce(-np.array(right)) - np.log(len(right))
        return [float(np.exp(of_right - np.logaddexp.reduce([of_right, *(-each for each in others)])))]

    return Metric("probability_among", measure, interval="bootstrap", needs=("tokens",))
