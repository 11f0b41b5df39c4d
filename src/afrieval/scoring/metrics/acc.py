"""Accuracy: the share of questions whose right choice was picked."""

from afrieval.scoring.base import Metric, Question, Response


def acc() -> Metric:
    """Returns accuracy; a choice with the text of the gold choice is right too."""
    return Metric("acc", _measure)


def _measure(response: Response, question: Question) -> list[float] | None:
    return right(response.answer, question) if question.choices else None


def right(picked: int | None, question: Question) -> list[float]:
    """Returns whether a choice is right."""
    choices = question.choices
    return [float(picked is not None and choices[picked] == choices[question.gold])]
