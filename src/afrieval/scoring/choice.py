"""Scores of one multiple-choice document from the log-likelihoods of its choices."""

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

ACCURACIES = ("acc", "acc_norm", "acc_bytes", "acc_tokens")
UNREAD = "unread"
TIE = 1e-5  # of a value's size; float32 rounds the same request in two batches to values some 1e-7 apart


class Answer(NamedTuple):
    """What a model says of one continuation.

    Attributes:
        loglikelihood: natural logarithm of its probability given the prompt, summed over its tokens.
        is_greedy: whether each token was the most likely one.
        n_tokens: number of tokens summed over; None where the backend does not tell.
    """

    loglikelihood: float
    is_greedy: bool
    n_tokens: int | None = None


def score(
    answers: Sequence[Answer], continuations: Sequence[str], choices: Sequence[str], gold: int
) -> dict[str, float]:
    """Returns 1.0 or 0.0 for each way to compare the choices' log-likelihoods.

    `acc` compares them as they are; `acc_norm` per character, `acc_bytes` per UTF-8 byte and `acc_tokens` per
    token of the continuation (Gao 2021, "Multiple Choice Normalization in LM Evaluation"). The first of values that tie
    wins (see `best`). A choice with the gold choice's text is right too.

    Args:
        answers: one per choice.
        continuations: what was scored, without the leading blank.
        choices: the option texts; they differ from the continuations where letters are scored.
        gold: index of the right choice.
    """
    lengths: dict[str, Callable[[int], float | None]] = {
        "acc": lambda i: 1,
        "acc_norm": lambda i: len(continuations[i]),
        "acc_bytes": lambda i: len(continuations[i].encode()),
        "acc_tokens": lambda i: answers[i].n_tokens,
    }
    picks = {name: _best(answers, length) for name, length in lengths.items()}
    return {name: float(choices[pick] == choices[gold]) for name, pick in picks.items() if pick is not None}


def score_choice(read: int | None, choices: Sequence[str], gold: int) -> dict[str, float]:
    """Returns accuracy of a choice that was read from a generated answer, and whether none could be read.

    Args:
        read: index of the choice; None, where none could be read, is wrong.
        choices: the option texts.
        gold: index of the right choice; one with the same text is right too.
    """
    return {"acc": float(read is not None and choices[read] == choices[gold]), UNREAD: float(read is None)}


def best(loglikelihoods: Sequence[float], lengths: Sequence[float] | None = None) -> int:
    """Returns the index of the highest log-likelihood, or of the highest per length; the first of several that tie.

    Values tie that differ by no more than rounding may change: `TIE` of the size of their sums, which are taken to be 1
    at least. So the answer does not depend on what the model computed at the same time.

    Args:
        loglikelihoods: sums over tokens, one per choice.
        lengths: what to divide them by; none is 0.
    """
    divisors = lengths or [1] * len(loglikelihoods)
    pairs = list(zip(loglikelihoods, divisors, strict=True))
    values = [total / length for total, length in pairs]
    slack = [TIE * max(1.0, abs(total)) / length if math.isfinite(total) else 0.0 for total, length in pairs]
    highest = values.index(max(values))
    near = (i for i, value in enumerate(values) if values[highest] - value <= max(slack[i], slack[highest]))
    return min(highest, next(near, highest))


def _best(answers: Sequence[Answer], length: Callable[[int], float | None]) -> int | None:
    lengths = [length(i) for i in range(len(answers))]
    if not all(lengths):
        return None
    return best([answer.loglikelihood for answer in answers], [n or 1 for n in lengths])
