"""Likelihoods of texts: probability, loss, how much the model would write, and attacks that tell what it has seen."""

import math
from typing import Annotated
from zlib import compress

import numpy as np
from annotated_types import Gt, Le

from afrieval.scoring.base import Array, Metric
from afrieval.scoring.measured import ANSWER, of_texts
from afrieval.scoring.tokens import Tokens


def probability(of: str = ANSWER) -> Metric:
    """Returns the mean over documents of P(text | prompt)^(1/n), where n is the number of tokens, from 0 to 1.

    TOFU (Maini et al. 2024, section 2.2.1). As published, the end of the text is one of the tokens if the task has
    `end: true`.
    """
    return of_texts("probability", of, lambda tokens, text: math.exp(-tokens.loss))


def loss(of: str = ANSWER) -> Metric:
    """Returns the mean over documents of the mean negative log-likelihood per token of a text.

    As an attack (Yeom et al. 2018, "Privacy Risk in Machine Learning"), a higher value says that the
    model has less likely seen the text. The end of the text never counts.
    """
    return of_texts("loss", of, lambda tokens, text: tokens.of_text.loss, math.inf, higher_is_better=False)


def exact_memorisation(of: str = ANSWER) -> Metric:
    """Returns the mean over documents of the share of tokens that are the most likely ones, given those before.

    Tirumala et al. 2022, "Memorization Without Overfitting". The end of the text never counts.
    """
    return of_texts("exact_memorisation", of, lambda tokens, text: float(tokens.of_text.greedy.mean()))


def extraction_strength(of: str = ANSWER) -> Metric:
    """Returns the mean over documents of 1 - k / n, where the last n - k of n tokens follow greedily from the rest.

    Carlini et al. 2021, "Extracting Training Data from Large Language Models"; Wang et al. 2025, "Towards Effective
    Evaluations and Comparison for LLM Unlearning Methods". k is the lowest number of tokens from which the
    model writes all others: 0 gives 1, and a wrong last token gives 0. The end of the text never counts.
    """

    def value(tokens: Tokens, text: str) -> float:
        greedy = tokens.of_text.greedy
        followed = len(greedy) if greedy.all() else int(greedy[::-1].argmin())
        return followed / len(greedy)

    return of_texts("extraction_strength", of, value)


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
