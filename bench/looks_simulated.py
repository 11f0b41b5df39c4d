"""Made-up answers whose truth is known, looked at while the sample grows: how often do intervals contain the truth?"""

import math
from bisect import bisect_left
from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import Any

import numpy as np
from scipy import optimize, special

from afrieval.analysis.scores import ByQuestion
from afrieval.analysis.uncertainty import TaskWeight, half_width
from afrieval.results.cell_scores import CellScores
from afrieval.results.document_columns import Values
from afrieval.scoring.base import Metric
from afrieval.scoring.metrics import metric
from afrieval.scoring.statistics.intervals import LEVEL, Interval, wilson
from afrieval.scoring.statistics.looks import looks

REPEATS, OF_LANGUAGES = 10_000, 2_000
CHANCES = (0.1, 0.3, 0.5, 0.55, 0.9)  # true scores
ALIKE = 0.5  # correlation of what two models, or two languages, make of the same question
Ends = Values  # lower and upper ends, shape (repeats, looks, 2)
Rule = Callable[[Ends, Values], Any]  # of intervals and scores, shape (repeats, looks): where each repetition stops


def cell(of: Metric, measures: Values, planned: int) -> CellScores:
    """Returns scores of the suite for the measures of n documents."""
    return CellScores(name="", metrics={"": of}, measures={"": measures}, ids=np.arange(len(measures)), looks=planned)


@cache
def of_suite(right: int, n: int, planned: int) -> Interval:
    """Returns the interval that the suite shows for so many right answers, as a share."""
    found = cell(metric("acc"), np.repeat([1.0, 0.0], [right, n - right])[:, None], planned).interval
    assert found
    return found


def counted(rng: np.random.Generator, chance: float, sizes: Sequence[int], repeats: int) -> Any:
    """Returns how many answers are right at each look, shape (repeats, looks)."""
    return rng.binomial(np.diff(sizes, prepend=0), chance, (repeats, len(sizes))).cumsum(axis=1)


def ends(counts: Any, sizes: Sequence[int], interval: Callable[[int, int], Interval]) -> Ends:
    """Returns the intervals of counts, each different one computed once."""
    found = np.empty((*counts.shape, 2))
    for at, n in enumerate(sizes):
        values, places = np.unique(counts[:, at], return_inverse=True)
        found[:, at] = np.array([interval(int(value), n) for value in values])[places]
    return found


@cache
def pocock(sizes: tuple[int, ...]) -> float:
    """Returns the quantile that a normal mean exceeds at any of its looks in 5 % of 400,000 random walks."""
    steps = np.random.default_rng(1).normal(0, np.sqrt(np.diff(sizes, prepend=0)), (400_000, len(sizes)))
    return float(np.quantile(np.abs(steps.cumsum(axis=1) / np.sqrt(sizes)).max(axis=1), 1 - LEVEL))


@cache
def betting(right: int, n: int) -> Interval:
    """Returns a confidence sequence by betting, which holds at every question: the means that have not lost by then.

    The bets on right and wrong answers are those of the universal portfolio, whose wealth has a closed form: Orabona &
    Jun 2023, "Tight Concentrations and Confidence Sequences From the Regret of Universal Portfolio".
    """
    wealth = special.betaln(right + 0.5, n - right + 0.5) - special.betaln(0.5, 0.5) + math.log(LEVEL)

    def lost(mean: float) -> float:
        return float(wealth - special.xlogy(right, mean) - special.xlog1py(n - right, -mean))

    low = optimize.brentq(lost, 1e-12, right / n) if right else 0.0
    return Interval(low, optimize.brentq(lost, right / n, 1 - 1e-12) if right < n else 1.0)


def ways(sizes: Sequence[int]) -> dict[str, Callable[[int, int], Interval]]:
    """Returns four ways to state an interval at a look."""
    z = pocock(tuple(sizes))
    return {
        "each look as if it were the only one": partial(of_suite, planned=1),
        "equal shares (the suite)": partial(of_suite, planned=len(sizes)),
        "Pocock's levels": lambda right, n: wilson(right, n, z),
        "betting": betting,
    }


def _first(reached: Any) -> Any:
    """Returns the first look at which something is reached, else the last one."""
    return np.where(reached.any(axis=1), reached.argmax(axis=1), reached.shape[1] - 1)


def narrow(points: float) -> Rule:
    """Stops when half the interval is that narrow, in points."""
    return lambda found, scores: _first((found[..., 1] - found[..., 0]) / 2 <= points / 100)


def within(points: float) -> Rule:
    """Stops when neither end is farther from the score, as `eval.until` does."""
    return lambda found, scores: _first(np.abs(found - scores[..., None]).max(axis=-1) <= points / 100)


def decided(found: Ends, scores: Values) -> Any:
    """Stops when the interval excludes 50 %."""
    return _first((found[..., 0] > 0.5) | (found[..., 1] < 0.5))


def highest(found: Ends, scores: Values) -> Any:
    """Takes the look at which the score was highest, after all looks."""
    return scores.argmax(axis=1)


def coverage(found: Ends, scores: Values, truth: float) -> list[float]:
    """Returns how often intervals are right: at the worst look, at all looks, at +/- 2, 3 and 5 (the worst), and so on.

    Args:
        found: the intervals.
        scores: at the looks, shape (repeats, looks).
        truth: the true score.
    """
    right = (found[..., 0] <= truth) & (truth <= found[..., 1])

    def stopped(rule: Rule) -> float:
        return float(right[np.arange(len(right)), rule(found, scores)].mean())

    precise = min(stopped(within(points)) for points in (2, 3, 5))
    return [
        float(right.mean(axis=0).min()),
        float(right.all(axis=1).mean()),
        precise,
        stopped(decided),
        stopped(highest),
    ]


def lowest(rows: int) -> dict[str, list[float]]:
    """Returns for each way the lowest coverage over true scores."""
    rng, sizes, of_ways = np.random.default_rng(rows), looks(rows), dict[str, list[list[float]]]()
    for chance in CHANCES:
        counts = counted(rng, chance, sizes, REPEATS)
        for name, interval in ways(sizes).items():
            found = coverage(ends(counts, sizes, interval), counts / sizes, chance)
            of_ways.setdefault(name, []).append(found)
    return {name: np.min(each, axis=0).tolist() for name, each in of_ways.items()}


def all_so_far(rows: int, chance: float = 0.5) -> dict[str, list[float]]:
    """Returns for each way how often all intervals up to a look are right."""
    sizes = looks(rows)
    counts = counted(np.random.default_rng(rows), chance, sizes, REPEATS)
    found = {name: ends(counts, sizes, interval) for name, interval in ways(sizes).items()}
    right = {name: (of[..., 0] <= chance) & (chance <= of[..., 1]) for name, of in found.items()}
    return {name: np.logical_and.accumulate(of, axis=1).mean(axis=0).tolist() for name, of in right.items()}


def answers(rng: np.random.Generator, chances: Sequence[float], n: int, alike: float = ALIKE) -> Values:
    """Returns made-up answers, 1 or 0, shape (k, n); what is hard for one is hard for the others."""
    seen = math.sqrt(alike) * rng.normal(size=n) + math.sqrt(1 - alike) * rng.normal(size=(len(chances), n))
    return np.asarray((seen < special.ndtri(chances)[:, None]).astype(float))


def mean_rate(chances: Sequence[float], alike: float, rule: Rule | None, repeats: int = OF_LANGUAGES) -> float:
    """Returns how often the interval of a mean over languages is right, of 600 rows each.

    Args:
        chances: true scores.
        alike: as in `answers`; if it is 0, each language has its own questions.
        rule: at which look each language stops; None for all together when the mean is within two points.
        repeats: number of evaluations.
    """
    rng, sizes, languages = np.random.default_rng(len(chances)), looks(600), range(len(chances))
    codes = {n: [np.arange(n) + 1_000 * of * (alike == 0) for of in languages] for n in sizes}
    codes |= {n: [np.arange(n)] * len(chances) for n in sizes if alike}  # the same array for all is faster

    def once() -> bool:
        right = answers(rng, chances, sizes[-1], alike)
        counts = right.cumsum(axis=1)[:, np.array(sizes) - 1].astype(int)
        scores = counts / sizes

        def half(at: Sequence[int]) -> float:
            own = {
                of: ByQuestion(codes[sizes[look]][of], right[of, : sizes[look]], len(sizes))
                for of, look in enumerate(at)
            }
            return half_width([TaskWeight(1.0, "", own)], drawn=False)

        if rule:
            stopped = rule(ends(counts, sizes, partial(of_suite, planned=len(sizes))), scores).tolist()
        else:
            stopped = [
                next((at for at in range(len(sizes)) if half([at] * len(languages)) <= 0.02), len(sizes) - 1)
            ] * len(languages)
        error = np.mean(scores[languages, stopped]) - np.mean(chances)
        return bool(abs(error) <= half(stopped))

    return sum(once() for _ in range(repeats)) / repeats


def f1_rate(rows: int = 204, repeats: int = OF_LANGUAGES) -> list[float]:
    """Returns how often the suite's intervals of macro F1 are right, as `coverage` does."""
    rng, sizes, f1 = np.random.default_rng(rows), looks(rows), metric({"name": "f1", "average": "macro"})
    truth = float(f1.score(_classified(rng, 1_000_000), np.ones((1, 1_000_000)))[0])
    found, scores = np.full((repeats, len(sizes), 2), np.nan), np.empty((repeats, len(sizes)))
    for repeat in range(repeats):
        measures = _classified(rng, rows)
        for at, n in enumerate(sizes):
            of = cell(f1, measures[:n], len(sizes))
            found[repeat, at], scores[repeat, at] = of.interval or np.nan, f1.score(measures[:n], np.ones((1, n)))[0]
    return coverage(found, scores, truth)


def _classified(rng: np.random.Generator, n: int) -> Values:
    """Returns right and given classes, three of them; six answers of ten are known, and the others guessed."""
    gold, guess = rng.choice(3, n, p=[0.5, 0.3, 0.2]), rng.integers(0, 3, n)
    return np.column_stack([gold, np.where(rng.random(n) < 0.6, gold, guess)]).astype(np.float64)


def questions(points: Sequence[float], rows: int = 12_000) -> dict[str, list[int]]:
    """Returns how many questions each way needs until an interval is that narrow, if half of the answers are right."""
    sizes = looks(rows)
    of_ways: dict[str, tuple[Sequence[int], Callable[[int, int], Interval]]] = {
        "planned before, looked at once": (range(10, rows + 1, 2), partial(of_suite, planned=1)),
        "the suite, at its looks": (sizes, partial(of_suite, planned=len(sizes))),
        "betting, at every question": (range(10, rows + 1, 2), betting),
    }

    def needed(sizes: Sequence[int], interval: Callable[[int, int], Interval], of: float) -> int:
        def minus_half(n: int) -> float:
            low, high = interval(n // 2, n)
            return (low - high) / 2

        return sizes[min(bisect_left(sizes, -of / 100, key=minus_half), len(sizes) - 1)]

    return {name: [needed(*way, of) for of in points] for name, way in of_ways.items()}
