"""Right answers that are texts: one, or several of which the best counts."""

from collections.abc import Callable
from typing import Any

from afrieval.scoring.base import Metric, Question, Response


def references(gold: Any) -> list[str]:
    """Returns the right answers; empty if they are not texts."""
    texts = [gold] if isinstance(gold, str) else gold
    return texts if isinstance(texts, list) and all(isinstance(text, str) for text in texts) else []


def has_references(response: Response, question: Question) -> bool:
    """Returns whether the right answers are texts."""
    return bool(references(question.gold))


def mean_of_best(name: str, score: Callable[[str, str], float]) -> Metric:
    """Returns the mean over documents of a score from 0 to 1 that compares an answer with a right one.

    Of several right answers, the one with the highest score counts. An unparsed answer is an empty
    text, with the score 0.

    Args:
        name: of the metric.
        score: the answer and a right answer, neither empty, to a score.
    """

    def measure(response: Response, question: Question) -> list[float] | None:
        golds = references(question.gold)
        if not golds:
            return None
        given = str(response.answer or "")
        return [float(max(score(given, gold) for gold in golds)) if given else 0.0]

    return Metric(name, measure, interval="bootstrap", applies=has_references)
