"""The share of questions that the model, or a filter of its server, refused to answer."""

from afrieval.scoring.base import Metric, Question, Response


def refused() -> Metric:
    """Returns the share of refused answers, for models behind a server that marks them; they count as wrong."""
    return Metric("refused", _measure, higher_is_better=False)


def _measure(response: Response, question: Question) -> list[float] | None:
    return None if response.refused is None else [float(response.refused)]
