"""The interval of a score under any metric, of one prompt or averaged over several."""

from collections.abc import Sequence

import numpy as np

from afrieval.scoring.base import Array, Metric
from afrieval.statistics.influence import linear_values
from afrieval.statistics.intervals import Z95, Interval, clustered_wilson, wilson
from afrieval.statistics.resampling import RESAMPLES, SEED, percentile


def mean_values(metric: Metric, sides: Sequence[Array]) -> Array:
    """Returns a value per document whose mean is the mean score of several prompts; for one prompt, its own values.

    Args:
        metric: what was measured.
        sides: measures under each prompt, of the same documents.
    """
    return np.asarray(np.mean([linear_values(metric, measures) for measures in sides], axis=0))


def mean_score(metric: Metric, sides: Sequence[Array], weights: Array) -> Array:
    """Returns the mean over prompts of the scores, for each row of weights, shape (b,)."""
    return np.asarray(np.mean([metric.score(measures, weights) for measures in sides], axis=0))


def score_interval(
    metric: Metric, sides: Sequence[Array], resamples: int = RESAMPLES, z: float = Z95
) -> Interval | None:
    """Returns the interval of the mean score of one prompt or several; None where none makes sense.

    Args:
        metric: what was measured.
        sides: measures under each prompt, of the same documents.
        resamples: how many samples a bootstrap draws.
        z: a normal quantile; by default of a 95 % interval.
    """
    if metric.interval == "none":
        return None
    n = len(sides[0])
    if metric.interval == "bootstrap":
        rng = np.random.default_rng(SEED)
        return percentile(lambda weights: mean_score(metric, sides, weights), n, rng, resamples, z)
    values = mean_values(metric, sides)
    if not metric.is_mean:  # counts of answers, of which a document may have many: there may be fewer independent ones
        answers = max(1.0, float(np.mean([np.nanmax(measures, axis=1).mean() for measures in sides])))
        return clustered_wilson(values, answers * len(sides), fewest=1.0, z=z)
    return clustered_wilson(values, len(sides), z=z) if len(sides) > 1 else wilson(float(values.sum()), n, z)
