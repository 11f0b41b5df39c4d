"""How far raters agree beyond chance: among each other, and with a judge."""

from collections.abc import Callable, Mapping, Sequence
from typing import Literal, NamedTuple

import numpy as np

from afrieval.scoring.base import Array
from afrieval.scoring.statistics.intervals import Interval
from afrieval.scoring.statistics.tests import SEED, percentile

Kind = Literal["nominal", "ordinal", "interval"]


class Agreement(NamedTuple):
    """A coefficient: 1 if all agree, 0 if they agree as often as by chance.

    Attributes:
        interval: of answers like these, by bootstrap; None if nothing varies.
        n: answers that two or more rated.
    """

    value: float
    interval: Interval | None
    n: int


def krippendorff(
    ratings: Sequence[Mapping[str, str]], levels: Sequence[str], scale: bool, kind: Kind | None = None
) -> Agreement | None:
    """Returns Krippendorff's alpha of any number of raters, each of whom may have left out some answers.

    Krippendorff 2018, "Content Analysis", chapter 12. A judge may be one of the raters.

    Args:
        ratings: of each answer, rater to level; answers with fewer than two say nothing.
        levels: all that there are.
        scale: whether they are whole numbers, steps of equal size, and not kinds.
        kind: how far two levels differ; `interval` of a scale if not given, and else `nominal`.

    Returns:
        None if fewer than two answers were rated twice, or all have the same level.
    """
    counts = np.array([[list(of.values()).count(level) for level in levels] for of in ratings if len(of) > 1])
    if len(counts) < 2:
        return None
    pairs = counts[:, :, None] * counts[:, None] - counts[:, :, None] * np.eye(len(levels))
    pairs = pairs / (counts.sum(axis=1) - 1)[:, None, None]  # each rating counts once, however many others there are
    how = kind or ("interval" if scale else "nominal")

    def alpha(found: Array) -> Array:
        totals = found.sum(axis=2)
        n, apart = totals.sum(axis=1), _apart(how, levels, totals)
        return np.asarray(
            1 - (n - 1) * _ratio((found * apart).sum(axis=(1, 2)), np.einsum("bi,bj,bij->b", totals, totals, apart))
        )

    return _agreement(pairs, alpha)


def weighted_kappa(a: Sequence[str], b: Sequence[str], levels: Sequence[str], scale: bool) -> Agreement | None:
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
    apart = _apart("interval" if scale else "nominal", levels, np.zeros((1, len(levels))))

    def kappa(found: Array) -> Array:
        rows, columns, n = found.sum(axis=2), found.sum(axis=1), found.sum(axis=(1, 2))
        return np.asarray(
            1 - n * _ratio((found * apart).sum(axis=(1, 2)), np.einsum("bi,bj,ij->b", rows, columns, apart[0]))
        )

    return _agreement(first[:, :, None] * second[:, None], kappa)


def _apart(how: Kind, levels: Sequence[str], totals: Array) -> Array:
    """Returns how far levels are apart, squared, shape (b, l, l); on an ordinal scale by how many ratings lie between.

    Args:
        how: the kind of difference.
        levels: their names.
        totals: how often each was given, shape (b, l).
    """
    if how == "nominal":
        return np.asarray(1 - np.eye(len(levels)))[None]
    middles = np.cumsum(totals, axis=1) - totals / 2 if how == "ordinal" else np.array([list(map(float, levels))])
    return np.asarray((middles[:, :, None] - middles[:, None]) ** 2)


def _agreement(pairs: Array, coefficient: Callable[[Array], Array]) -> Agreement | None:
    """Returns a coefficient of the sum of pairs of levels, shape (n, l, l), with an interval over the n answers."""
    n, size = pairs.shape[:2]

    def of(weights: Array) -> Array:
        return coefficient((weights @ pairs.reshape(n, -1)).reshape(-1, size, size))

    value = float(of(np.ones((1, n)))[0])
    if np.isnan(value):
        return None
    return Agreement(value, percentile(of, n, np.random.default_rng(SEED)), n)


def _ratio(part: Array, whole: Array) -> Array:
    return np.divide(part, whole, out=np.full_like(part, np.nan), where=whole > 0)
