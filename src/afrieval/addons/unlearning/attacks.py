"""Attacks that tell what a model has seen, as derived metrics of suites, and how far it has forgotten that."""

import math
import warnings
from collections.abc import Sequence

import numpy as np

from afrieval.scoring.base import Array, Derived, Input
from afrieval.scoring.derived.combined import relative, weighted_auc

LOW = 0.1  # AUCs below it are far from the 0.5 of a model that has not seen the texts


def auc() -> Derived:
    """Returns the probability that a document of the second input has a higher value than one of the first.

    Equal values count half. With losses of texts that a model was trained on first, and of texts that it has
    not seen second, it is the AUC of a membership attack: 1 if all training texts are more likely, 0.5 if the
    two cannot be distinguished, and below 0.5 if training texts are less likely than unseen ones.
    """

    def score(inputs: Sequence[Input]) -> Array:
        low, high = inputs
        return weighted_auc(low.measures[:, 0], high.measures[:, 0], low.weights, high.weights)

    return Derived("auc", score, bounds=(0.0, 1.0), n_inputs=2, needs="documents", remark=_of_attack)


def _of_attack(score: float) -> str:
    """Returns what an AUC of a membership attack near 0 means."""
    return "an AUC near 0 is over-forgetting: texts to forget are less likely than unseen ones" if score < LOW else ""


def auc_of_differences() -> Derived:
    """Returns the AUC of each document's value less the same document's value in a reference run.

    With losses, this is the attack of Carlini et al. 2021, "Extracting Training Data from Large Language
    Models": a text that a model knows better than the reference model does is taken for a training text.
    It takes the inputs of `auc` in this run, then in the reference run, and means the same.
    """

    def score(inputs: Sequence[Input]) -> Array:
        low, high, low_there, high_there = inputs
        pairs = (low, low_there), (high, high_there)
        lower, higher = (here.measures[:, 0] - there.measures[:, 0] for here, there in pairs)
        return weighted_auc(lower, higher, low.weights, high.weights)

    return Derived("auc_of_differences", score, bounds=(0.0, 1.0), n_inputs=4, needs="pairs", remark=_of_attack)


def ks_test() -> Derived:
    """Returns the p-value of the test, two-sided: small if the two sets of values differ in distribution.

    It has two inputs: a metric of this run and the same metric of the reference run. The values are the first
    number that is stored of each document: of a truth ratio, the ratio itself, not what its mean is made of.
    Weights count how often a document is in the sample, and must be whole numbers.
    """

    def score(inputs: Sequence[Input]) -> Array:
        from scipy.stats import ks_2samp  # here, since importing it takes a second

        def repeated(metric: Input, weights: Array) -> Array:
            return np.repeat(metric.measures[:, 0], np.rint(weights).astype(np.int64))

        current, other = inputs
        resamples = zip(current.weights, other.weights, strict=True)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # the p-value is asymptotic where no exact one is found
            return np.array([ks_2samp(repeated(current, w), repeated(other, v)).pvalue for w, v in resamples])

    return Derived("ks_test", score, bounds=(0.0, 1.0), interval="none", n_inputs=2, needs="documents")


def privleak() -> Derived:
    """Returns the relative difference, in percent, of 1 - AUC in this run to 1 - AUC in the reference run.

    Shi et al. 2024, "MUSE: Machine Unlearning Six-Way Evaluation for Language Models", section 3.2, whose AUC
    has the training texts as positives; that is 1 - AUC of ours. 0 is as good as retraining. Below 0, training
    texts can still be recognised (under-unlearning); above 0, they are less likely than unseen texts
    (over-unlearning). It is not defined if the reference run has an AUC of 1.
    """

    def score(inputs: Sequence[Input]) -> Array:
        current, reference = inputs
        return relative(1 - current.scores, 1 - reference.scores)

    return Derived("privleak", score, bounds=(-100.0, math.inf), n_inputs=2, needs="attack")
