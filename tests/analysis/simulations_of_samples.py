"""Made-up test sets sorted by class, of which a part is answered: how often do the intervals of samples cover?

Classes are not equally hard. The truth is the score on endless questions, or on the whole test set.
"""

from functools import partial
from typing import Any

import numpy as np
from tests.analysis.simulations import COVERS, Simulation, covers, repeated

from afrieval.scoring.statistics.intervals import wilson
from afrieval.tasks.data.sampling import sample_order

SHARES = np.array([0.25, 0.2, 0.15, 0.12, 0.11, 0.09, 0.08])  # of classes, about those of SIB-200


def sampled(classes: Any, key: str) -> list[int]:
    """The order in which `--eval.sample` takes the rows."""
    return sample_order([str(row) for row in range(len(classes))], [classes.tolist()], key)


def sample_rate(n: int, of: int, spread: float, whole: bool, order: Any) -> float:
    """Scores of classes are up to `spread` above and below 40 %; `whole`: the truth is that of the test set."""
    chances = 0.4 + spread * np.linspace(-1, 1, len(SHARES))

    def once(rng: np.random.Generator) -> bool:
        classes = np.sort(rng.choice(len(SHARES), of, p=SHARES))
        right = rng.random(of) < chances[classes]
        taken = right[order(classes, str(rng.integers(2**32)))[:n]]
        return covers(wilson(taken.sum(), n), right.mean() if whole else float(SHARES @ chances))

    return repeated(4_000, once)


def _of(n: int, of: int, spread: float, low: float, high: float, whole: bool = False) -> Simulation:
    truth = ", for the score of all" if whole else ""
    setting = f"{n} of {of} questions, classes {'differ' if spread else 'alike'}{truth}"
    return Simulation(
        "interval of a sample", setting, COVERS, sampled, partial(sample_rate, n, of, spread, whole), low, high
    )


SIMULATIONS = [
    _of(50, 204, 0.0, 0.94, 0.96),
    _of(50, 204, 0.3, 0.95, 0.98),
    _of(200, 1000, 0.3, 0.95, 0.98),
    _of(100, 204, 0.3, 0.98, 1.0, whole=True),
]
