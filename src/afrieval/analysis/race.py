"""Which of several models are still in a race at a look: those that none is shown to be better than."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from afrieval.analysis.ranks import Contest, Rank, compared, ranks
from afrieval.analysis.uncertainty import ScoreWithoutDocuments
from afrieval.scoring.statistics.intervals import LEVEL


class Standing(NamedTuple):
    """Where the models of a race stand.

    Attributes:
        scores: of each model, the weighted mean over tasks of the means over languages.
        ranks: of each model, over all pairs of models and all looks.
        best: the place of the model with the highest score among those that may be the best.
        within: of each model, whether it is shown to be at most the margin below the best one.
    """

    scores: list[float]
    ranks: list[Rank]
    best: int
    within: list[bool]


def standing(contests: Sequence[Contest], margin: float = 0.0) -> Standing:
    """Returns where the models stand; the languages are those that one is interested in, not a sample of others.

    All models that have started are given at each look, also those that have left: then the ranks of all looks hold
    at once in 95 % of races, and the best model is lost in fewer. That a model is within the margin is wrong in as few.

    Args:
        contests: what the models were asked, with the same models in each, whose errors are known.
        margin: the difference in points that does not matter.
    """
    found = [rank or Rank(1, len(contests[0].entries)) for rank in ranks(contests, drawn=False)]
    scores = [sum(each.weight * _mean(each, at) for each in contests) for at in range(len(found))]
    best = max((at for at, rank in enumerate(found) if rank.first == 1), key=lambda at: scores[at])
    below, p_values = compared(contests, drawn=False, margin=margin)
    pairs = len(found) * (len(found) - 1) // 2
    within = [
        at == best or bool(abs(below[best, at]) < margin and p_values[best, at] * pairs < LEVEL)
        for at in range(len(found))
    ]
    return Standing(scores, found, best, within)


def _mean(contest: Contest, at: int) -> float:
    of_languages = contest.entries[at].values()
    return float(
        np.mean([of.score if isinstance(of, ScoreWithoutDocuments) else of.scores.mean() for of in of_languages])
    )
