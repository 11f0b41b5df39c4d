"""Which of several models are still in a race at a look: those that none is shown to be better than."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from afrieval.analysis.ranks import Contest, Rank, compared, ranks, with_right
from afrieval.analysis.uncertainty import weighted_mean
from afrieval.scoring.statistics.tests import significant


@dataclass(frozen=True)
class Race:
    """Where a race is.

    Attributes:
        ranks: of each model, over all pairs of models and all looks so far.
        left: indices of the models that have left, to the size of the sample at which each did.
        size: of the sample at the latest look; 0 before the first one.
        scores: of each model at the latest look, the weighted mean over tasks of the means over languages.
        best: the index of the model with the highest score among those that may be the best.
        within: of each model, whether it is shown to be at most the margin below the best one.
        contests: with all models, at the latest look.
    """

    ranks: list[Rank]
    left: Mapping[int, int] = field(default_factory=dict)
    size: int = 0
    scores: Sequence[float] = ()
    best: int = 0
    within: Sequence[bool] = ()
    contests: Sequence[Contest] = ()

    @property
    def still(self) -> list[int]:
        """The indices of the models that have not left."""
        return [at for at in range(len(self.ranks)) if at not in self.left]

    @property
    def is_decided(self) -> bool:
        """Whether one model is left, or all that are left are shown to be within the margin of the best one."""
        return len(self.still) == 1 or bool(self.within and all(self.within[at] for at in self.still))

    def sample_of(self, index: int) -> int:
        """Returns the size of the sample that a model was asked."""
        return self.left.get(index, self.size)


def begun(models: int) -> Race:
    """Returns a race before its first look."""
    return Race([Rank(1, models)] * models)


def looked_at(race: Race, size: int, contests: Sequence[Contest], margin: float = 0.0) -> Race:
    """Returns where a race is after another look: a model that is shown not to be the best leaves for good.

    The languages are those that one is interested in, not a sample of others. All models that have started are given at
    each look, also those that have left: then the ranks of all looks hold at once in 95 % of races, and the best model
    is lost in fewer. That a model is within the margin is wrong in as few.

    Args:
        race: before the look.
        size: of the sample.
        contests: with all models of the race, whose errors are known; those that have left answered fewer questions.
        margin: the difference in points that does not matter.
    """
    models = range(len(race.ranks))
    latest = [rank or Rank(1, len(models)) for rank in ranks(contests, drawn=False)]
    scores = [weighted_mean(each.share(at) for each in contests) for at in models]
    best = max(race.still, key=lambda index: (latest[index].first == 1, scores[index]))
    below, p_values = compared(with_right(contests), drawn=False, margin=margin)
    pairs = len(models) * (len(models) - 1) // 2
    close = (np.abs(below) < margin) & significant(p_values * pairs)
    # As read, and with all unparsed answers right.
    cases = [np.ix_([best, best - len(models)], [at, at - len(models)]) for at in models]
    within = [at == best or bool(close[of_model].all()) for at, of_model in enumerate(cases)]
    # Ranks of all looks hold at once, so a later look can only narrow them.
    narrowed = [before.narrowed(after) for before, after in zip(race.ranks, latest, strict=True)]
    leave = {at: size for at in race.still if narrowed[at].first > 1 and at != best}
    return Race(narrowed, {**race.left, **leave}, size, scores, best, within, contests)
