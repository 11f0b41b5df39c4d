"""Suites whose truth is known: how often does the interval of their average cover it?

A language is as good in all tasks by a common part, and differs from task to task by another. All its tasks have
documents of their own, translated into all languages of the task.
"""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
from tests.analysis.cells import named
from tests.analysis.simulations import COVERS, OWN, Simulation, covers, logistic, logistic_mean, repeated

from afrieval.analysis.uncertainty import TaskWeight, half_width

COMMON, SPECIAL, EASY, QUESTIONS = 0.5, 0.3, 1.2, 60
ONE = -1  # instead of a number of languages: a task in one language, which is not drawn


def suite_rate(tasks: Sequence[Sequence[int]], same: bool, width: Any) -> float:
    """Returns how often the interval of a suite's average covers the mean over all languages there could be.

    Args:
        tasks: the languages of each task, by number; for a task in one language, that is ONE alone.
        same: whether all tasks have the same documents.
        width: half the width of the interval.
    """
    rest = np.hypot(EASY, OWN)
    drawn = logistic_mean(-0.5, float(np.sqrt(COMMON**2 + SPECIAL**2 + rest**2)))
    truth = float(np.mean([drawn if ONE not in languages else logistic_mean(-0.5, rest) for languages in tasks]))

    def once(rng: np.random.Generator) -> bool:
        common = {code: rng.normal(0, COMMON) for languages in tasks for code in languages} | {ONE: 0.0}
        shared, shares, score = rng.normal(0, EASY, QUESTIONS), [], 0.0
        for number, languages in enumerate(tasks):
            hard = shared if same else rng.normal(0, EASY, QUESTIONS)
            found = {}
            for code in languages:
                special = rng.normal(0, SPECIAL) if code != ONE else 0.0
                chance = logistic(-0.5 + common[code] + special + hard + rng.normal(0, OWN, QUESTIONS))
                found[code] = named(dict(enumerate((rng.random(QUESTIONS) < chance).astype(float).tolist())))
            shares.append(TaskWeight(1 / len(tasks), "all" if same else str(number), found))
            score += float(np.mean([np.mean(of.scores) for of in found.values()])) / len(tasks)
        half = width(shares)
        return covers((score - half, score + half), truth)

    return repeated(1000, once)


MIXED = [range(16), range(4), range(2, 8), range(10), [5, 11, 17], range(12, 20)]
TASKS: list[tuple[Sequence[Sequence[int]], bool, str, float, float]] = [
    ([range(14)] * 7, False, "7 tasks, the same 14 languages", 0.93, 0.975),
    ([range(4)] * 7, False, "7 tasks, the same 4 languages", 0.93, 0.975),
    ([range(10 * i, 10 * i + 10) for i in range(4)], False, "4 tasks, 10 other languages in each", 0.93, 0.98),
    (MIXED, False, "6 tasks, 3 to 16 languages, some the same", 0.93, 0.975),
    ([range(10), range(10), [ONE], [ONE]], False, "2 tasks in the same 10 languages, 2 in one", 0.93, 0.975),
    ([range(10)] * 3, True, "3 tasks on the same questions, 10 languages", 0.93, 0.985),
]


def _suites() -> Iterator[Simulation]:
    for tasks, same, setting, low, high in TASKS:
        rate = partial(suite_rate, tasks, same)
        yield Simulation("interval, average of a suite", setting, COVERS, half_width, rate, low, high)


SIMULATIONS = list(_suites())
