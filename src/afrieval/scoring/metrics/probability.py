"""The probability of a text, per token."""

import math

from afrieval.scoring.base import Metric
from afrieval.scoring.measured import ANSWER, of_texts


def probability(of: str = ANSWER) -> Metric:
    """Returns the mean over documents of P(text | prompt)^(1/n), where n is the number of tokens, from 0 to 1.

    TOFU (Maini et al. 2024, section 2.2.1). As published, the end of the text is one of the tokens if the task has
    `end: true`.

    Args:
        of: the role of the texts; of several in a document, the mean.
    """
    return of_texts("probability", of, lambda tokens, text: math.exp(-tokens.loss))
