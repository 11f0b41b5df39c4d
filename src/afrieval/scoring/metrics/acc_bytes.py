"""Accuracy by likelihood per byte, which compares scripts fairly."""

from afrieval.scoring.base import Metric, Question, Response
from afrieval.scoring.choice import best_per
from afrieval.scoring.metrics.acc import right


def acc_bytes() -> Metric:
    """Returns accuracy of the choice with the highest log-likelihood per UTF-8 byte."""
    return Metric("acc_bytes", _measure)


def _measure(response: Response, question: Question) -> list[float] | None:
    picked = best_per(response.likelihoods, [len(name.encode()) for name in question.names])
    return None if picked is None else right(picked if response.answer is not None else None, question)
