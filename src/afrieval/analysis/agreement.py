"""Our verdicts on a run's answers against the published verdicts on the answers that are in the data set."""

from typing import NamedTuple

import numpy as np

from afrieval.results.scores import CellScores
from afrieval.statistics.significance import Values, mcnemar


class Agreement(NamedTuple):
    """How two verdicts on the same documents go together.

    Attributes:
        right: documents that both have right.
        here: those that the first alone has right.
        there: those that the second alone has right.
        neither: those that both have wrong.
        p: exact McNemar test of the difference.
    """

    right: int
    here: int
    there: int
    neither: int
    p: float

    @property
    def n(self) -> int:
        """All documents."""
        return self.right + self.here + self.there + self.neither

    @property
    def same(self) -> float:
        """The share of documents on which the two agree."""
        return (self.right + self.neither) / self.n

    @property
    def scores(self) -> tuple[float, float]:
        """The shares that the first and the second have right."""
        return (self.right + self.here) / self.n, (self.right + self.there) / self.n


def agreement(ours: Values, published: Values) -> Agreement:
    """Returns how verdicts on the same documents go together.

    Args:
        ours: 0 or 1 for each document, at least one.
        published: the same documents.
    """
    first, second = ours == 1, published == 1
    right, here = int((first & second).sum()), int((first & ~second).sum())
    there = int((~first & second).sum())
    return Agreement(right, here, there, len(ours) - right - here - there, mcnemar(here, there))


def verdicts(each: CellScores) -> Agreement | None:
    """Returns how a cell's scores go together with the published verdicts; None if no document has both."""
    published = each.verdicts
    if published is None:
        return None
    both = ~np.isnan(published)
    return agreement(each.values[both], published[both]) if both.any() else None
