"""Accuracy by likelihood per token."""

from afrieval.scoring.base import Metric, Question, Response
from afrieval.scoring.choice import best_per
from afrieval.scoring.metrics.acc import right


def acc_tokens() -> Metric:
    """Returns accuracy of the choice with the highest log-likelihood per token of the model."""
    return Metric("acc_tokens", _measure)


def _measure(response: Response, question: Question) -> list[float] | None:
    picked = best_per(response.likelihoods, [given.n_tokens for given in response.likelihoods])
    return None if picked is None else right(picked if response.answer is not None else None, question)
