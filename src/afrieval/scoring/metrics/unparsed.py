"""The share of generated answers that cannot be parsed."""

from afrieval.scoring.base import Metric, Question, Response


def unparsed() -> Metric:
    """Returns the share of answers in which the extractor found nothing."""
    return Metric("unparsed", _measure, higher_is_better=False)


def _measure(response: Response, question: Question) -> list[float] | None:
    return None if response.likelihoods else [float(response.answer is None and not response.refused)]
