"""Membership attacks: what a model knows of texts that it may have seen."""

import math
from typing import Annotated
from zlib import compress

import numpy as np
from annotated_types import Gt, Le

from afrieval.scoring.base import Array, Metric
from afrieval.scoring.measured import ANSWER, of_texts
from afrieval.scoring.tokens import Tokens


def loss(of: str = ANSWER) -> Metric:
    """Returns the mean over documents of the mean negative log-likelihood per token of a text.

    As an attack (Yeom et al. 2018, "Privacy Risk in Machine Learning"), a higher value says that the
    model has less likely seen the text. The end of the text never counts.
    """
    return of_texts("loss", of, lambda tokens, text: tokens.of_text.loss, math.inf, higher_is_better=False)


USUAL_K = 0.4
Share = Annotated[float, Gt(0), Le(1)]


def min_k(of: str = ANSWER, k: Share = USUAL_K) -> Metric:
    """Returns the mean over documents of -(mean log-probability of the share k of the least likely tokens).

    Shi et al. 2024, "Detecting Pretraining Data from Large Language Models", section 4; of n tokens, the
    max(1, floor(k n)) least likely. Higher values say that the model has less likely seen the text. The end of the
    text never counts.
    """
    name = "min_k" if k == USUAL_K else f"min_k_{k:g}"
    return of_texts(
        name, of, lambda tokens, text: -_lowest(tokens.of_text.logprobs, k), math.inf, higher_is_better=False
    )


def _lowest(values: Array, k: float) -> float:
    """Returns the mean of the lowest share k of some values: of n, the whole number below k n counts, at least 1."""
    n = max(1, int(round(k * len(values), 9)))  # 0.29 * 100 is a little less than 29
    return float(np.partition(values, n - 1)[:n].mean())


LEAST_VARIANCE = 1e-6  # of a token that is certain


def min_k_plus_plus(of: str = ANSWER, k: Share = USUAL_K) -> Metric:
    """Returns the mean over documents of -(mean of the share k of the lowest z of tokens).

    Zhang et al. 2024, "Min-K%++: Improved Baseline for Pre-Training Data Detection":
    z = (log p - mu) / sigma, with the mean and the standard deviation of log p over the vocabulary, under the model's
    own distribution. Higher values say that the model has less likely seen the text. The end of the text never counts.
    """
    name = "min_k_plus_plus" if k == USUAL_K else f"min_k_plus_plus_{k:g}"

    def value(tokens: Tokens, text: str) -> float:
        of_text = tokens.of_text
        if of_text.means is None or of_text.variances is None:
            raise ValueError("the moments over the vocabulary are missing")
        spreads = np.sqrt(np.maximum(of_text.variances, LEAST_VARIANCE))
        return -_lowest((of_text.logprobs - of_text.means) / spreads, k)

    return of_texts(name, of, value, math.inf, -math.inf, ("tokens", "vocabulary"), higher_is_better=False)


def zlib(of: str = ANSWER) -> Metric:
    """Returns the mean over documents of the loss divided by the text's compressed length in bytes.

    Carlini et al. 2021, "Extracting Training Data from Large Language Models", section 5.2. Higher values say that
    the model has less likely seen the text. The length is the text's in UTF-8; where only its first tokens are
    asked for, of the part that they cover. The end of the text never counts.
    """

    def value(tokens: Tokens, text: str) -> float:
        return tokens.of_text.loss / len(compress(text[: tokens.characters].encode()))

    return of_texts("zlib", of, value, math.inf, higher_is_better=False)


def gradient_norm(of: str = ANSWER) -> Metric:
    """Returns the mean over documents of the 2-norm of the loss's gradient, a mean over the model's parameter tensors.

    Wang et al. 2024, "Pandora's White-Box", as open-unlearning computes it. Higher values say that the
    model has less likely seen the text. It takes a backward pass for each text.
    """

    def value(tokens: Tokens, text: str) -> float:
        if tokens.gradient_norm is None:
            raise ValueError("the norm of the gradient is missing")
        return tokens.gradient_norm

    return of_texts("gradient_norm", of, value, math.inf, needs=("gradient",), higher_is_better=False)
