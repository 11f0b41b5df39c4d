"""Simulations of labels that are made equally frequent, whose constants come from the same documents."""

from collections.abc import Iterator
from functools import cache, partial
from typing import Any

import numpy as np
from tests.analysis.simulations import COVERS, COVERS_AT_LEAST, Simulation, covers, interval_of, repeated

from afrieval.results.document_columns import Values
from afrieval.scoring.metrics import metric
from afrieval.scoring.statistics.intervals import wilson

MATCHED = metric("acc_matched")
LONG, SHORT = np.array([-2.0, -9.0, -3.0]), np.zeros(3)  # what the length of each label adds


def right(gold: Any, loglikelihoods: Values) -> Values:
    """Returns which documents are right."""
    return MATCHED.apply_cell_normalisation(np.column_stack([gold, loglikelihoods]))[:, 0]


def known(rng: np.random.Generator, n: int, knowledge: float) -> tuple[Any, Values]:
    """Returns right labels, and log-likelihoods without the labels' lengths."""
    gold, loglikelihoods = rng.integers(0, 3, n), rng.normal(0, 1, (n, 3))
    loglikelihoods[np.arange(n), gold] += knowledge
    return gold, loglikelihoods


@cache
def truth(knowledge: float) -> float:
    gold, loglikelihoods = known(np.random.default_rng(1), 400_000, knowledge)
    return float(right(gold, loglikelihoods).mean())


def score_rate(n: int, knowledge: float, score: int, interval: Any) -> float:
    assert round(100 * truth(knowledge)) == score, "as the page says"

    def once(rng: np.random.Generator) -> bool:
        gold, loglikelihoods = known(rng, n, knowledge)
        return covers(interval(right(gold, loglikelihoods + LONG).sum(), n), truth(knowledge))

    return repeated(3000, once)


def difference_rate(n: int, knowledge: float, interval: Any) -> float:
    """Two prompt languages with equal knowledge, and label words of other lengths."""

    def once(rng: np.random.Generator) -> bool:
        gold, shared = known(rng, n, knowledge)
        sides = [right(gold, shared + length + rng.normal(0, 1, (n, 3))) for length in (SHORT, LONG)]
        return covers(interval(*sides, rng), 0.0)

    return repeated(1000, once)


def _matching() -> Iterator[Simulation]:
    for n, knowledge, score, low in ((600, 1.0, 63, 0.93), (200, 0.0, 33, 0.93), (50, 2.0, 87, 0.88)):
        setting = f"{n} questions, score {score} %"
        rate = partial(score_rate, n, knowledge, score)
        yield Simulation("interval, acc_matched", setting, COVERS, wilson, rate, low, 0.965)
    for n, knowledge in ((600, 0.0), (200, 1.0)):
        setting = f"{n} questions, knowledge {knowledge:g}"
        rate, name = partial(difference_rate, n, knowledge), "interval of a difference, acc_matched"
        yield Simulation(name, setting, COVERS_AT_LEAST, interval_of, rate, 0.945, 0.99)


SIMULATIONS = [*_matching()]
