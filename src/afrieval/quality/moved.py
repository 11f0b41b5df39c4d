"""Rows that have the text of another row, by a mixture of similarities of rows that translate one another or do not."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import isotonic_regression

from afrieval.quality.similarity import Matrix

ODDS = 1.0  # logarithm; docs/data-quality.md says how it was set, and what is found with it
ALIKE = 0.5  # similarity of rows that may stand for one another, such as several questions on one passage
NEIGHBOURS = 10
LEAST_SHARE, MOST_SHARE = 0.01, 0.9  # of rows that are moved, as the mixture may assume
STEPS = 15
Vector = NDArray[np.float64]


def moved_rows(similarity: Matrix, alike: Matrix) -> dict[int, int]:
    """Returns the rows that have the text of another row: their places, and that row's.

    A row is named if the odds are large enough that it translates the most similar other row, and not the row at its
    place. The odds come from how similar this language's rows are to the rows that they translate, and to all others:
    where sound rows often share nothing with their translations, as with few languages, or are often similar to other
    rows, nothing is named. An EM algorithm finds both distributions and the share of moved rows.

    Args:
        similarity: of rows to the other languages' rows.
        alike: of the other languages' rows to each other.
    """
    scaled, same = _scaled(similarity), alike >= ALIKE
    np.fill_diagonal(same, True)
    here = np.where(same, scaled, -np.inf).max(axis=1)
    there_now = np.where(same, scaled, -np.inf).max(axis=0)
    elsewhere = np.where(same, -np.inf, scaled)
    there = elsewhere.argmax(axis=1)
    best = elsewhere.max(axis=1)
    odds = _odds(here, best, scaled[~same], best >= there_now[there])
    return {int(place): int(there[place]) for place in np.flatnonzero(odds > ODDS)}


def _scaled(similarity: Matrix) -> Matrix:
    """Returns similarities less those to the nearest rows, since some rows are similar to many.

    That is CSLS (Conneau et al. 2018, "Word Translation Without Parallel Data").
    """
    k = min(NEIGHBOURS, len(similarity) - 1)
    of_rows, of_columns = (np.partition(similarity, -k, axis=axis) for axis in (1, 0))
    nearest: Matrix = (of_rows[:, -k:].mean(axis=1)[:, None] + of_columns[-k:].mean(axis=0)) / 2
    return similarity - nearest


def _odds(here: Vector, best: Vector, pairs: Vector, possible: NDArray[np.bool_]) -> Vector:
    """Returns the logarithm of the odds that each row is moved.

    Args:
        here: similarity to the row at the same place.
        best: similarity to the most similar other row.
        pairs: similarities of rows at different places.
        possible: whether a row can be moved at all.
    """
    n, edges = len(here), np.unique(np.concatenate([here, best]))
    bins = len(edges) + 1
    own, other, apart = (np.searchsorted(edges, values, side="right") for values in (here, best, pairs))
    of_pairs = np.bincount(apart, minlength=bins)
    moved, share = np.zeros(n), 0.1
    odds: Vector = np.full(n, -np.inf)
    counted = np.ones(n)  # at first, the most similar pair of each row says nothing of rows that do not belong together
    for _ in range(STEPS):
        together = np.bincount(own, 1 - moved, bins) + np.bincount(other, moved, bins)
        others = np.maximum(of_pairs + np.bincount(own, moved, bins) - np.bincount(other, counted, bins), 0)
        ratio = _log_ratio(together, others)
        odds = np.log(share / (1 - share) / (n - 1)) + ratio[other] - ratio[own]
        odds = np.where(possible, odds, -np.inf)
        moved = counted = 1 / (1 + np.exp(-odds))
        share = float(np.clip(moved.mean(), LEAST_SHARE, MOST_SHARE))
    return odds


def _log_ratio(together: NDArray[Any], others: NDArray[Any]) -> Vector:
    """Returns how much likelier each bin is for rows that belong together: a logarithm that rises with the bins."""
    total = together + others
    seen = np.flatnonzero(total > 0)
    found = isotonic_regression(together[seen] / total[seen], weights=total[seen])
    block = np.repeat(np.arange(len(found.blocks) - 1), np.diff(found.blocks))
    one, other = np.bincount(block, together[seen]), np.bincount(block, others[seen])
    ratio = np.log((one + 0.5) / (one.sum() + 0.5)) - np.log((other + 0.5) / (other.sum() + 0.5))
    last_seen = np.maximum(np.searchsorted(seen, np.arange(len(together)), side="right") - 1, 0)
    of_bins: Vector = ratio[block[last_seen]]
    return of_bins
