"""The mean that people would have given to all answers, from a judge of all and people's ratings of some.

Prediction-powered inference (Angelopoulos et al. 2023, arXiv 2301.09633): the judge's mean over the answers that nobody
rated, plus what people say above the judge where both do. The judge counts as much as makes the error smallest, from
not at all to fully (arXiv 2311.01453, "PPI++"), so a useless one does no harm. It holds whatever the judge gets wrong,
if each answer was equally likely to be rated.
"""

import numpy as np

from afrieval.scoring.base import Array

FEWEST = 20  # ratings; with fewer, intervals are not worth their name (docs/statistics.md)
ALIKE = 1e-12  # variance of judgements that are all the same, but for rounding


def n_rated(measures: Array) -> int:
    """Returns how many answers people rated."""
    return int(measures[:, 2].sum())


def corrected_mean(measures: Array, weights: Array) -> Array:
    """Returns the corrected score, shape (b,); NaN without ratings.

    Args:
        measures: what an answer is worth to the judge, and to people, and 1 if they rated it, else 0; shape (n, 3).
        weights: shape (b, n).
    """
    judged, people, others, power = _means(measures, weights)
    return np.asarray(np.clip(people + power * (others - judged), 0.0, 1.0))


def corrected_values(measures: Array) -> Array:
    """Returns a value per document, shape (n,): their mean is the score, and their standard error the score's."""
    judged, people, rated = measures.T
    n, weights = len(measures), np.ones((1, len(measures)))
    mean_judged, mean_people, mean_others, power = _means(measures, weights)
    sizes = np.where(rated, n_rated(measures), n - n_rated(measures))
    values = np.where(rated, people - power * judged, power * judged)
    means = np.where(rated, mean_people - power * mean_judged, power * mean_others)
    free = np.maximum(sizes - np.where(rated, 1 + (power > 0), 1), 1)  # the slope takes a degree of freedom
    # Rated answers and others are two samples; the mean of all values gets the variances of both means.
    added = n / sizes * np.sqrt(sizes / free * (n - 1) / n) * (values - means)
    return np.asarray(corrected_mean(measures, weights) + added)


def _means(measures: Array, weights: Array) -> tuple[Array, Array, Array, Array]:
    """Returns the judge's and people's means over rated answers, the judge's over others, and how much it counts.

    It counts from 0 to 1, as in a regression of people's ratings on its own. The slope is from rated answers alone.
    With the judge's variance over all answers, as PPI++ has it, scores of 10 ratings are too high by up to 3 points.
    """
    judged, people, rated = measures.T
    of_rated, of_others = weights * rated, weights * (1 - rated)
    n, rest = of_rated.sum(axis=1), of_others.sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        f, y = of_rated @ judged / n, of_rated @ people / n
        others = np.where(rest > 0, of_others @ judged / rest, f)
        covariance = of_rated @ (judged * people) / n - f * y
        variance = of_rated @ judged**2 / n - f**2
        slope = np.where(variance > ALIKE, covariance / variance, 0.0)
    return f, y, others, np.clip(slope * rest / (n + rest), 0.0, 1.0)
