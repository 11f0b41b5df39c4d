"""How far raters agree beyond chance: among each other, and with a judge.

A coefficient is 1 if all agree, and 0 if they agree as often as by chance.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from afrieval.scoring.base import Array
from afrieval.scoring.statistics.intervals import IntervalEstimate
from afrieval.scoring.statistics.tests import SEED, percentile


def krippendorff(ratings: Sequence[Mapping[str, str]], levels: Sequence[str], scale: bool) -> IntervalEstimate | None:
    """Returns Krippendorff's alpha of any number of raters, each of whom may have left out some answers.

    Krippendorff 2018, "Content Analysis", chapter 12. A judge may be one of the raters.

    Args:
        ratings: of each answer, rater to level; answers with fewer than two say nothing.
        levels: all that there are.
        scale: whether they are whole numbers, steps of equal size, and not kinds.

    Returns:
        None if fewer than two answers were rated twice, or all have the same level.
    """
    counts = np.array([[list(of.values()).count(level) for level in levels] for of in ratings if len(of) > 1])
    if len(counts) < 2:
        return None
    pairs = counts[:, :, None] * counts[:, None] - counts[:, :, None] * np.eye(len(levels))
    pairs = pairs / (counts.sum(axis=1) - 1)[:, None, None]  # each rating counts once, however many others there are
    return _agreement(pairs, _apart(levels, scale), drawn=1)


def weighted_kappa(a: Sequence[str], b: Sequence[str], levels: Sequence[str], scale: bool) -> IntervalEstimate | None:
    """Returns Cohen's kappa of two raters of the same answers, with quadratic weights if levels are steps.

    Cohen 1968, "Weighted Kappa"; it depends on how often each of the two uses a level, which alpha does not.

    Args:
        a: the first one's levels.
        b: the second one's.
        levels: as in `krippendorff`.
        scale: as in `krippendorff`.

    Returns:
        None if there are fewer than two answers, or both gave all the same level.
    """
    if len(a) < 2:
        return None
    first, second = (np.array([[of == level for level in levels] for of in side], dtype=np.float64) for side in (a, b))
    return _agreement(first[:, :, None] * second[:, None], _apart(levels, scale))


def _apart(levels: Sequence[str], scale: bool) -> Array:
    """Returns how far levels are apart, squared, shape (l, l)."""
    if not scale:
        return np.asarray(1 - np.eye(len(levels)))
    steps = np.array(list(map(float, levels)))
    return np.asarray((steps[:, None] - steps) ** 2)


def _agreement(pairs: Array, apart: Array, drawn: int = 0) -> IntervalEstimate | None:
    """Returns how much closer levels of the same answers are than those of any, with an interval over answers.

    Args:
        pairs: of levels of each answer, how often it has them, shape (n, l, l).
        apart: how far levels are apart, shape (l, l).
        drawn: 1 if chance draws two ratings of the same raters, so that there is one less for the second; else 0.
    """
    n, size = pairs.shape[:2]

    def of(weights: Array) -> Array:
        counts = (weights @ pairs.reshape(n, -1)).reshape(-1, size, size)
        by_chance = np.einsum("bi,bj,ij->b", counts.sum(axis=2), counts.sum(axis=1), apart)
        ratio = np.full_like(by_chance, np.nan)
        np.divide((counts * apart).sum(axis=(1, 2)), by_chance, out=ratio, where=by_chance > 0)
        return np.asarray(1 - (counts.sum(axis=(1, 2)) - drawn) * ratio)

    value = float(of(np.ones((1, n)))[0])
    if np.isnan(value):
        return None
    return IntervalEstimate(value, percentile(of, n, np.random.default_rng(SEED)), n)
