"""The two-sample Kolmogorov-Smirnov test between the values of two runs."""

import warnings
from collections.abc import Sequence

import numpy as np

from afrieval.scoring.base import Array, Derived, Input


def ks_test() -> Derived:
    """Returns the p-value of the test, two-sided: small if the two sets of values differ in distribution.

    It has two inputs: a metric of this run and the same metric of the reference run. The values are the first
    number that is stored of each document: of a truth ratio, the ratio itself, not what its mean is made of.
    Weights count how often a document is in the sample, and must be whole numbers.
    """
    return Derived("ks_test", _score, bounds=(0.0, 1.0), interval="none", n_inputs=2, needs="documents")


def _score(inputs: Sequence[Input]) -> Array:
    from scipy.stats import ks_2samp  # here, since importing it takes a second

    own, other = inputs
    resamples = zip(own.weights, other.weights, strict=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # that the p-value is asymptotic, where no exact one is found
        return np.array([ks_2samp(_repeated(own, w), _repeated(other, v)).pvalue for w, v in resamples])


def _repeated(given: Input, weights: Array) -> Array:
    return np.repeat(given.measures[:, 0], np.rint(weights).astype(np.int64))
