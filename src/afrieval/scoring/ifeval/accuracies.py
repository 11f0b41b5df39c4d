"""IFEval's four accuracies: one value per prompt whose mean is the accuracy and whose spread is its error."""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from afrieval.scoring.ifeval.instructions import FOLLOWED, meta_mean, recipe_mean
from afrieval.scoring.ifeval.levels import linear
from afrieval.statistics.intervals import Interval, clustered_wilson

MEANS = {"ifeval_recipe_mean": recipe_mean, "ifeval_meta_mean": meta_mean}
Metrics = Mapping[str, Mapping[int, float]]


def linearised(lists: Sequence[Sequence[float]]) -> NDArray[np.float64]:
    """Returns a value per prompt whose mean is the share of all instructions that are followed, each counting the same.

    Args:
        lists: 0 or 1 for each instruction of each prompt; a prompt has at least one.
    """
    return linear(np.array([[sum(each), len(each)] for each in lists], dtype=np.float64))


def over_prompts(values: NDArray[np.float64], per_prompt: float) -> Interval:
    """Returns the 95 % interval of such an accuracy, or of a mean of several.

    Prompts with many instructions weigh more, so there may be fewer independent answers than prompts.

    Args:
        values: one per prompt, with the accuracy as their mean.
        per_prompt: how many instructions a prompt has on average; 1 where only whole prompts count.
    """
    return clustered_wilson(values, per_prompt, fewest=1.0)


def ifeval_means(metrics: Metrics) -> dict[str, NDArray[np.float64]]:
    """Returns the two means over accuracies that are in use, as values per prompt.

    `ifeval_recipe_mean` is over the two strict ones, `ifeval_meta_mean` over all four. A mean of values per prompt has
    the right error, since what a prompt adds to one accuracy goes along with what it adds to the others.

    Args:
        metrics: metric to prompt to value, linearised for single instructions; nothing is returned without all four.
    """
    if not all(metrics.get(name) for name in FOLLOWED):
        return {}
    rows = [{name: metrics[name][row] for name in FOLLOWED} for row in metrics[FOLLOWED[0]]]
    return {name: np.array([mean(row) for row in rows]) for name, mean in MEANS.items()}
