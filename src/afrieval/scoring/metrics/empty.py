"""The share of empty answers, such as translations that the model did not write."""

from afrieval.scoring.base import Metric, Question, Response


def empty() -> Metric:
    """Returns the share of answers without content, from 0 to 1."""
    return Metric("empty", _measure, higher_is_better=False)


def _measure(response: Response, question: Question) -> list[float] | None:
    return None if response.likelihoods else [float(response.answer in (None, ""))]
