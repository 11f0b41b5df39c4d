"""Metrics of texts whose likelihood is measured: the mean over the texts of a document that have one role."""

from collections.abc import Callable

import numpy as np

from afrieval._util.errors import UserError
from afrieval.scoring.base import Metric, Question, Response
from afrieval.scoring.tokens import Need, Tokens

ANSWER = "answer"  # the role of the texts that a metric is of, if it names no other
Value = Callable[[Tokens, str], float]


def of_texts(
    name: str,
    role: str,
    value: Value,
    high: float = 1.0,
    low: float = 0.0,
    needs: tuple[Need, ...] = ("tokens",),
    higher_is_better: bool = True,
) -> Metric:
    """Returns the mean over documents of a value of texts; of several texts of a document, their mean."""

    def measure(response: Response, question: Question) -> list[float] | None:
        values = [value(tokens, text) for tokens, text in _tokens_with(role, response, question)]
        return [float(np.mean(values))] if values else None

    name = name if role == ANSWER else f"{name}_{role}"
    return Metric(
        name,
        measure,
        higher_is_better=higher_is_better,
        bounds=(low, high),
        interval="bootstrap",
        needs=needs,
        roles=(role,),
    )


def _tokens_with(role: str, response: Response, question: Question) -> list[tuple[Tokens, str]]:
    """Returns tokens and text of each text of a role; empty if the task has no such texts.

    Raises:
        UserError: for a text without tokens, which nothing can be measured of.
    """
    if not question.roles or not response.likelihoods:
        return []
    triples = zip(question.roles, response.likelihoods, question.choices, strict=True)
    pairs = [(given.tokens, text) for name, given, text in triples if name == role and given.tokens is not None]
    for tokens, text in pairs:
        if not len(tokens.of_text.logprobs):
            raise UserError(f"the model's tokenizer gives no tokens for the text {text!r:.60}", "leave the row out")
    return pairs


def loss_of(role: str, response: Response, question: Question) -> list[float]:
    """Returns the mean negative log-likelihood of each text of a role, including its end if it was asked for."""
    return [tokens.loss for tokens, _ in _tokens_with(role, response, question)]
