"""Simulations of metrics that are not means: macro F1 of three classes, and an F-score of n-gram counts."""

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
from tests.analysis.cells import scored
from tests.analysis.simulations import (
    COVERS,
    COVERS_AT_LEAST,
    ERRS,
    LEVEL,
    Simulation,
    covers,
    interval_over_languages,
    logistic,
    logistic_mean,
    repeated,
)

from afrieval.analysis.differences import paired_test
from afrieval.analysis.scores import PromptMean
from afrieval.results.document_columns import Values
from afrieval.scoring.base import Metric
from afrieval.scoring.metrics import metric
from afrieval.scoring.statistics.intervals import linear_values
from afrieval.scoring.statistics.score_intervals import score_interval

# macro F1 of three classes, one of them rare, and an F-score of n-gram counts.

F1 = metric({"name": "f1", "average": "macro"})
NGRAMS = Metric("n-gram F-score", F1.measure, lambda m, w: f_score(w @ m), bounds=(0.0, 100.0), interval="bootstrap")
CLASSES = np.array([0.6, 0.3, 0.1])


def f_score(sums: Values) -> Values:
    """chrF of one order of n-grams: those of the answer, of the right answer, and of both; recall weighs more."""
    given, gold, both = sums.T
    precision, recall = both / given, both / gold
    return np.asarray(100 * 5 * precision * recall / (4 * precision + recall))


def f1_of(right: float, classes: Any = CLASSES) -> float:
    """Returns macro F1 where every document is answered right with one chance, and else by a guess."""
    hit = classes * (right + (1 - right) / 3)
    picked = classes * right + (1 - right) / 3
    return float(np.mean(2 * hit / (classes + picked)))


def classified(rng: np.random.Generator, gold: Any, chance: Any) -> Values:
    guess = rng.integers(0, 3, len(gold))
    return np.column_stack([gold, np.where(rng.random(len(gold)) < chance, gold, guess)]).astype(np.float64)


def f1_sides(rng: np.random.Generator, n: int, shifts: Any, classes: Any = CLASSES) -> list[Values]:
    """Returns measures of the same documents under several prompts, each with its own shift of all chances."""
    gold, document = rng.choice(3, n, p=classes), rng.normal(0, 1.5, n)
    return [classified(rng, gold, logistic(document + shift + rng.normal(0, 0.7, n))) for shift in shifts]


def f1_truth(shift: float, classes: Any = CLASSES) -> float:
    return f1_of(logistic_mean(shift, float(np.hypot(1.5, 0.7))), classes)


def f1_rate(n: int, prompts: int, interval: Any, classes: Any = CLASSES, shift: float = 0.0) -> float:
    truth = f1_truth(shift, classes)
    return repeated(1000, lambda rng: covers(interval(F1, f1_sides(rng, n, [shift] * prompts, classes)), truth))


def ngrams_rate(n: int, interval: Any) -> float:
    """Answers of unequal length and quality; what is right of an answer goes along with its length."""
    truth = float(f_score(np.array([[40.0, 42.0, 20.0]]))[0])

    def once(rng: np.random.Generator) -> bool:
        length = rng.integers(10, 71, n)
        both = rng.binomial(length, rng.beta(2, 2, n))
        gold = rng.integers(12, 73, n)
        return covers(interval(NGRAMS, [np.column_stack([length, gold, both]).astype(np.float64)]), truth)

    return repeated(2000, once)


def f1_pair(rng: np.random.Generator, n: int, prompts: int, effect: float) -> tuple[PromptMean, PromptMean]:
    sides = f1_sides(rng, n, [0.0] * prompts + [effect] * prompts)
    cells = [scored(measures.tolist(), of=F1) for measures in sides]
    return PromptMean(cells[:prompts]), PromptMean(cells[prompts:])


def f1_difference_rate(n: int, prompts: int, test: Any) -> float:
    truth = f1_truth(0.5) - f1_truth(0.0)
    return repeated(1000, lambda rng: covers(test(*f1_pair(rng, n, prompts, 0.5), rng).interval(), truth))


def f1_p_rate(n: int, prompts: int, test: Any) -> float:
    return repeated(1000, lambda rng: bool(test(*f1_pair(rng, n, prompts, 0.0), rng).p < LEVEL))


def f1_languages_rate(k: int, n: int, between: float, interval: Any) -> float:
    """Languages differ, and have documents of their own; the truth is over all languages there could be."""
    at, weights = np.polynomial.hermite_e.hermegauss(40)
    truth = float(np.array([f1_truth(between * u) for u in at]) @ weights / weights.sum())

    def once(rng: np.random.Generator) -> bool:
        languages = []
        for code in range(k):
            (measures,) = f1_sides(rng, n, [rng.normal(0, between)])
            languages.append({(code, i): v for i, v in enumerate(linear_values(F1, measures).tolist())})
        return covers(interval(languages), truth)

    return repeated(2000, once)


def _other_metrics() -> Iterator[Simulation]:
    right = partial(score_interval, resamples=1000)
    for n, prompts, low in ((250, 1, 0.93), (50, 1, 0.915), (250, 5, 0.93)):
        setting = f"{n} questions, 3 classes" + (f", {prompts} prompts" if prompts > 1 else "")
        yield Simulation("interval, macro F1", setting, COVERS, right, partial(f1_rate, n, prompts), low, 0.96)
    for rare, low in ((0.05, 0.91), (0.01, 0.82)):
        rate = partial(f1_rate, 204, 1, classes=np.array([0.6, 0.4 - rare, rare]), shift=1.0)
        setting = f"204 questions, a class of {100 * rare:.0f} %"
        yield Simulation("interval, macro F1", setting, COVERS, right, rate, low, 0.96)
    for n, low in ((200, 0.935), (30, 0.91)):
        rate = partial(ngrams_rate, n)
        yield Simulation("interval, n-gram F-score", f"{n} documents", COVERS, right, rate, low, 0.965)
    test = partial(paired_test, permutations=999)
    name = "interval of a difference, macro F1"
    for prompts in (1, 5):
        setting = "250 questions, 3 classes" + (f", {prompts} prompts" if prompts > 1 else "")
        yield Simulation(name, setting, COVERS_AT_LEAST, test, partial(f1_difference_rate, 250, prompts), 0.935, 0.98)
    for n in (250, 50):
        yield Simulation("p, macro F1", f"{n} questions, 3 classes", ERRS, test, partial(f1_p_rate, n, 1), 0.03, 0.07)
    name, rate = "interval, mean over languages, macro F1", partial(f1_languages_rate, 7, 250, 0.5)
    yield Simulation(name, "7 languages, own questions", COVERS, interval_over_languages, rate, 0.93, 0.97)


SIMULATIONS = [*_other_metrics()]
