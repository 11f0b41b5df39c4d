"""The loss of a text, which is also the simplest membership attack."""

import math

from afrieval.scoring.base import Metric
from afrieval.scoring.measured import ANSWER, of_texts


def loss(of: str = ANSWER) -> Metric:
    """Returns the mean over documents of the mean negative log-likelihood per token of a text.

    As an attack (Yeom et al. 2018, "Privacy Risk in Machine Learning"), a higher value says that the
    model has less likely seen the text. The end of the text never counts.

    Args:
        of: the role of the texts.
    """
    return of_texts("loss", of, lambda tokens, text: tokens.of_text.loss, math.inf, higher_is_better=False)
