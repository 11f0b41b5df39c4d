"""Min-K%++: how unlikely the tokens of a text are among those that the model expects, a membership attack."""

import math

import numpy as np

from afrieval.scoring.base import Metric
from afrieval.scoring.measured import ANSWER, lowest, of_texts
from afrieval.scoring.metrics.min_k import USUAL_K, Share
from afrieval.scoring.tokens import Tokens

LEAST_VARIANCE = 1e-6  # of a token that is certain


def min_k_plus_plus(of: str = ANSWER, k: Share = USUAL_K) -> Metric:
    """Returns the mean over documents of -(mean of the share k of the lowest z of tokens).

    Zhang et al. 2024, "Min-K%++: Improved Baseline for Pre-Training Data Detection":
    z = (log p - mu) / sigma, with the mean and the standard deviation of log p over the vocabulary, under the model's
    own distribution. Higher values say that the model has less likely seen the text. The end of the text never counts.

    Args:
        of: the role of the texts.
        k: the share.
    """
    name = "min_k_plus_plus" if k == USUAL_K else f"min_k_plus_plus_{k:g}"
    return of_texts(
        name, of, lambda tokens, text: _value(tokens, k), math.inf, -math.inf, ("tokens", "vocabulary"), False
    )


def _value(tokens: Tokens, k: float) -> float:
    of = tokens.of_text
    if of.means is None or of.variances is None:
        raise ValueError("the moments over the vocabulary are missing")
    return -lowest((of.logprobs - of.means) / np.sqrt(np.maximum(of.variances, LEAST_VARIANCE)), k)
