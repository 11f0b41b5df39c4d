"""The norm of the gradient of a text's loss: a membership attack."""

import math

from afrieval.scoring.base import Metric
from afrieval.scoring.measured import ANSWER, of_texts
from afrieval.scoring.tokens import Tokens


def gradient_norm(of: str = ANSWER) -> Metric:
    """Returns the mean over documents of the 2-norm of the loss's gradient, a mean over the model's parameter tensors.

    Wang et al. 2024, "Pandora's White-Box", as open-unlearning computes it. Higher values say that the
    model has less likely seen the text. It takes a backward pass for each text.

    Args:
        of: the role of the texts.
    """
    return of_texts("gradient_norm", of, _value, math.inf, needs=("gradient",), higher_is_better=False)


def _value(tokens: Tokens, text: str) -> float:
    if tokens.gradient_norm is None:
        raise ValueError("the norm of the gradient is missing")
    return tokens.gradient_norm
