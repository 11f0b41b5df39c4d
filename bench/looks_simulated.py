"""Made-up answers whose truth is known, looked at while the sample grows: how often do intervals contain the truth?"""

import math
from bisect import bisect_left

from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial
from typing import Any

import numpy as np
from scipy import optimize, special

from afrieval.analysis.scores import ByQuestion
from afrieval.analysis.uncertainty import TaskWeight, half_width
from afrieval.results.cell_scores import CellScores, Values
from afrieval.scoring.base import Metric
from afrieval.scoring.metrics import metric
from afrieval.scoring.statistics.intervals import LEVEL, Interval, wilson
from afrieval.scoring.statistics.looks import looks

REPEATS, OF_LANGUAGES = 10_000, 2_000
CHANCES = (0.1, 0.3, 0.5, 0.55, 0.9)  # true scores
ALIKE = 0.5  # correlation of what two models, or two languages, make of the same question
Ends = Values  # lower and upper ends, shape (repeats, looks, 2)
Rule = Callable[[Ends], Any]  # the place of the look at which each repetition stops


def cell(of: Metric, measures: Values, planned: int) -> CellScores:
    """Returns scores of the suite for the measures of n documents."""
    return CellScores("", "", "", "", 1, {"": of}, {"": measures}, ids=np.arange(len(measures)), looks=planned)


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


def ways(rng: np.random.Generator, chance: float, rows: int) -> Iterator[tuple[str, Ends]]:
    """Yields four ways to state intervals at the looks."""
    sizes = looks(rows)
    counts = counted(rng, chance, sizes, REPEATS)
    yield "as if each look were the only one", ends(counts, sizes, partial(of_suite, planned=1))
    yield "equal shares of 5 % (the suite)", ends(counts, sizes, partial(of_suite, planned=len(sizes)))
    z = pocock(tuple(sizes))
    yield "Pocock's levels", ends(counts, sizes, lambda right, n: wilson(right, n, z))
    yield "betting", ends(counts, sizes, betting)


def _first(reached: Any) -> Any:
    """Returns the first look at which something is reached, else the last one."""
    return np.where(reached.any(axis=1), reached.argmax(axis=1), reached.shape[1] - 1)


def narrow(points: float) -> Rule:
    """Stops when the interval is that narrow, in points on each side."""
    return lambda found: _first((found[..., 1] - found[..., 0]) / 2 <= points / 100)


def decided(found: Ends) -> Any:
    """Stops when the interval excludes 50 %."""
    return _first((found[..., 0] > 0.5) | (found[..., 1] < 0.5))


def highest(found: Ends) -> Any:
    """Picks the look at which the score looks best, after all looks."""
    return np.nan_to_num(found.sum(axis=-1), nan=-1.0).argmax(axis=1)


RULES: dict[str, Rule] = {
    "stop at +/- 5": narrow(5),
    "stop at +/- 3": narrow(3),
    "stop at +/- 2": narrow(2),
    "stop when 50 % is excluded": decided,
    "take the best look": highest,
}


def covered(found: Ends, truth: float) -> Any:
    """Returns which intervals contain the truth, shape (repeats, looks)."""
    return (found[..., 0] <= truth) & (truth <= found[..., 1])


def coverage(found: Ends, truth: float) -> list[float]:
    """Returns the share of repetitions that are right: at the worst look, at all looks, and under each rule."""
    right = covered(found, truth)
    stopped = [right[np.arange(len(right)), rule(found)].mean() for rule in RULES.values()]
    return [float(each) for each in (right.mean(axis=0).min(), right.all(axis=1).mean(), *stopped)]


def lowest(rows: int) -> dict[str, list[float]]:
    """Returns for each way the lowest coverage over true scores."""
    rng, of_ways = np.random.default_rng(rows), dict[str, list[list[float]]]()
    for chance in CHANCES:
        for name, found in ways(rng, chance, rows):
            of_ways.setdefault(name, []).append(coverage(found, chance))
    return {name: np.min(each, axis=0).tolist() for name, each in of_ways.items()}


def answers(rng: np.random.Generator, chances: Sequence[float], n: int, alike: float = ALIKE) -> Values:
    """Returns made-up answers, 1 or 0, shape (k, n); what is hard for one is hard for the others."""
    seen = math.sqrt(alike) * rng.normal(size=n) + math.sqrt(1 - alike) * rng.normal(size=(len(chances), n))
    return np.asarray((seen < special.ndtri(chances)[:, None]).astype(float))


def mean_rate(
    chances: Values, alike: float, rule: str, rows: int = 600, repeats: int = OF_LANGUAGES
) -> float:
    """Returns how often the mean's interval contains the truth, if each language stops at its own look.

    Under a rule for the mean, all languages stop together.
    """
    languages = len(chances)
    rng, sizes = np.random.default_rng(languages), looks(rows)
    codes = {n: np.arange(n) for n in sizes}

    def once() -> bool:
        right = answers(rng, chances, rows, alike)
        counts = right.cumsum(axis=1)[:, np.array(sizes) - 1].astype(int)

        def half(at: Sequence[int]) -> float:
            scores = {
                of: ByQuestion(codes[sizes[look]], right[of, : sizes[look]], len(sizes)) for of, look in enumerate(at)
            }
            own = {of: each if alike else _apart(each, of) for of, each in scores.items()}
            return half_width([TaskWeight(1.0, "", own)], drawn=False)

        if rule == "the mean":
            at = next((look for look in range(len(sizes)) if half([look] * languages) <= 0.02), len(sizes) - 1)
            stopped = np.full(languages, at)
        else:
            stopped = RULES[rule](ends(counts, sizes, partial(of_suite, planned=len(sizes))))
        mean = float(np.mean(counts[np.arange(languages), stopped] / np.array(sizes)[stopped]))
        return abs(mean - chances.mean()) <= half(stopped.tolist())

    return sum(once() for _ in range(repeats)) / repeats


def _apart(scores: ByQuestion, of: int) -> ByQuestion:
    """Returns scores on questions that no other language has."""
    return ByQuestion(scores.codes + of * 1_000_000, scores.scores, scores.looks)


def f1_rates(rows: int = 204, repeats: int = OF_LANGUAGES) -> dict[int, list[float]]:
    """Returns for one planned look, and for all, how often intervals of macro F1 are right, as `coverage` has it."""
    rng, sizes, f1 = np.random.default_rng(rows), looks(rows), metric({"name": "f1", "average": "macro"})
    truth = float(f1.score(_classified(rng, 1_000_000), np.ones((1, 1_000_000)))[0])
    found = {planned: np.empty((repeats, len(sizes), 2)) for planned in (1, len(sizes))}
    for at in range(repeats):
        measures = _classified(rng, rows)
        for planned, of_planned in found.items():
            of_planned[at] = [cell(f1, measures[:n], planned).interval or (np.nan, np.nan) for n in sizes]
    return {planned: coverage(of_planned, truth) for planned, of_planned in found.items()}


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
