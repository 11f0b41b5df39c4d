"""IFEval's accuracies of many responses, by the metrics."""

from collections.abc import Sequence

import numpy as np

from afrieval.scoring.base import Question, Response
from afrieval.scoring.ifeval.instructions import Followed
from afrieval.scoring.metrics import metric


def accuracy(name: str, results: Sequence[Followed]) -> float:
    found = metric(name)
    answers = [{way: list(kept) for way, kept in result._asdict().items()} for result in results]
    measures = np.array([found.measure(Response(answer), Question({})) for answer in answers])
    return float(found.score(measures, np.ones((1, len(results))))[0])
