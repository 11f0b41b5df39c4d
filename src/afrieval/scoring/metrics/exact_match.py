"""Exact match: the share of questions whose extracted answer is the right one."""

from collections.abc import Callable
from decimal import Decimal
from typing import Any, Literal

from afrieval.scoring.base import Metric, Question, Response
from afrieval.scoring.mathematics.same_answer import same_answer
from afrieval.scoring.references import references
from afrieval.scoring.same_text import same_text

Same = Callable[[Any, Any], bool]


def exact_match(same: Literal["text", "mathematics"] = "text") -> Metric:
    """Returns exact match.

    Of several right answers, any will do.

    Args:
        same: when two texts are the same: as short texts, or as mathematics in LaTeX. Numbers are
            the same if their values are.
    """
    of_texts = {"text": same_text, "mathematics": same_answer}[same]
    return Metric("exact_match", lambda response, question: _measure(response, question, of_texts))


def _measure(response: Response, question: Question, of_texts: Same) -> list[float] | None:
    given, gold = response.answer, question.gold
    if question.choices:
        return None
    if texts := references(gold):
        return [float(isinstance(given, str) and any(of_texts(given, text) for text in texts))]
    if not isinstance(gold, int | float):
        return None
    if given is None:
        return [0.0]
    return [float(Decimal(given) == Decimal(gold))]
