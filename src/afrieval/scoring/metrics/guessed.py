"""The share of generated answers that are guessed, because an option of the extractor asks for it."""

from afrieval.scoring.base import Metric, Question, Response


def guessed() -> Metric:
    """Returns the share of answers that the model did not announce and the extractor guessed."""
    return Metric("guessed", _measure, higher_is_better=False)


def _measure(response: Response, question: Question) -> list[float] | None:
    return None if response.likelihoods else [float(bool(response.guessed))]
