"""Accuracy by what the question adds to a label: domain-conditional PMI (Holtzman et al. 2021).

The log-likelihood of each label after the prompt, minus its mean after neutral prompts: the same prompt
with nothing in it. What makes a label likely whatever the question, such as its length, cancels.
"""

import numpy as np

from afrieval.scoring.base import Metric, Question, Response
from afrieval.scoring.choice import LOWEST, best
from afrieval.scoring.metrics.acc import right


def acc_pmi() -> Metric:
    """Returns accuracy of the label that becomes more likely by the question than all others."""
    return Metric("acc_pmi", _measure, calibrated=True, needs_neutral=True)


def _measure(response: Response, question: Question) -> list[float] | None:
    if not response.likelihoods or not response.neutral:
        return None
    after = np.maximum([given.loglikelihood for given in response.likelihoods], LOWEST)
    return right(best((after - np.maximum(response.neutral, LOWEST).mean(axis=0)).tolist()), question)
