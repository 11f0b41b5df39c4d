"""The membership attack with a reference model, as an area under the ROC curve."""

from collections.abc import Sequence

from afrieval.scoring.base import Array, Derived, Input
from afrieval.scoring.derived.auc import of_attack, weighted_auc


def auc_of_differences() -> Derived:
    """Returns the AUC of each document's value less the same document's value in a reference run.

    With losses, this is the attack of Carlini et al. 2021, "Extracting Training Data from Large Language
    Models": a text that a model knows better than the reference model does is taken for a training text.
    Inputs and meaning are those of `auc`, each in this run and then in the reference run.
    """
    return Derived("auc_of_differences", _score, bounds=(0.0, 1.0), n_inputs=4, needs="pairs", remark=of_attack)


def _score(inputs: Sequence[Input]) -> Array:
    low, high, low_there, high_there = inputs
    lower, higher = (
        here.measures[:, 0] - there.measures[:, 0] for here, there in ((low, low_there), (high, high_there))
    )
    return weighted_auc(lower, higher, low.weights, high.weights)
