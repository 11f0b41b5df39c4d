"""Made-up languages, documents and answers whose truth is known: how often do intervals cover it and tests err?

Each rate takes the procedure as an argument, so that a wrong one can be put in its place.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from scipy import stats
from tests.analysis.cells import named

from afrieval.analysis.means import over_languages
from afrieval.results.document_columns import Values
from afrieval.scoring.metrics import metric
from afrieval.scoring.statistics.intervals import Interval, clustered_wilson, wilson
from afrieval.scoring.statistics.paired import PairedTest, of_flips, of_signs, smallest_flips
from afrieval.scoring.statistics.score_intervals import over_parts, score_interval
from afrieval.scoring.statistics.tests import bonferroni, flips

PROMPTS, LANGUAGES, LEVEL, OWN = 5, 16, 0.05, 0.9  # OWN: how much a document's chance differs by language
Rate = Callable[[Any], float]


@dataclass(frozen=True)
class Promise:
    """What a rate should be, and what the table says if it is lower or higher by more than chance and rounding."""

    text: str
    low: float
    high: float
    lower: str
    higher: str

    def verdict(self, rate: float) -> str:
        return self.lower if rate < self.low else self.higher if rate > self.high else "holds"


COVERS = Promise("95 %", 0.94, 0.965, "too narrow", "too wide")
COVERS_AT_LEAST = Promise("at least 95 %", 0.94, 1.0, "too narrow", "")
ERRS = Promise("at most 5 %", 0.0, 0.057, "", "errs too often")
FINDS = Promise("80 %", 0.77, 0.85, "finds too few", "finds more")


@dataclass(frozen=True)
class Simulation:
    """One line of the table.

    Attributes:
        name: the procedure in the table.
        right: the procedure.
        low, high: what the rate must lie between; where a promise is not kept, what is known of it.
    """

    name: str
    setting: str
    promise: Promise
    right: Any
    rate: Rate
    low: float
    high: float


def repeated(repeats: int, once: Callable[[np.random.Generator], bool]) -> float:
    """Returns how often something is true, in draws from one seed."""
    rng = np.random.default_rng(20)
    return sum(map(once, [rng] * repeats)) / repeats


def percent(share: float) -> str:
    return f"{100 * share:.3g} %"


def covers(interval: Any, truth: float) -> bool:
    """An interval that is None says that it cannot tell, which is no cover."""
    return interval is not None and bool(interval[0] <= truth <= interval[1])


# Scores: each document of a language has its own chance to be answered right, each prompt draws from it.


def wilson_rate(n: int, p: float, interval: Any) -> float:
    covered = np.array([covers(interval(k, n), p) for k in range(n + 1)])
    return float(covered[np.random.default_rng(20).binomial(n, p, 50_000)].mean())


def beta_rate(n: int, p: float, alike: float, interval: Any) -> float:
    """Chances of documents are beta; `alike` is the correlation of two answers to one document."""

    def once(rng: np.random.Generator) -> bool:
        chance = rng.beta(p * (1 / alike - 1), (1 - p) * (1 / alike - 1), n)
        return covers(interval(rng.binomial(PROMPTS, chance) / PROMPTS, PROMPTS), p)

    return repeated(20_000, once)


def logistic(x: Any) -> Any:
    return 1 / (1 + np.exp(-x))


def logistic_mean(middle: float, spread: float) -> float:
    """Returns the mean of a logistic of a normal variable, by quadrature."""
    at, weights = np.polynomial.hermite_e.hermegauss(80)
    return float(logistic(middle + spread * at) @ weights / weights.sum())


def prompts_rate(n: int, interval: Any) -> float:
    """Documents differ, prompts differ, and each document likes other prompts; the prompts stay the same."""
    prompts = np.array([-0.8, -0.4, 0.0, 0.4, 0.8])
    truth = float(np.mean([logistic_mean(-0.5 + p, np.hypot(1.5, 0.7)) for p in prompts]))

    def once(rng: np.random.Generator) -> bool:
        chance = logistic(-0.5 + prompts[:, None] + rng.normal(0, 1.5, n) + rng.normal(0, 0.7, (PROMPTS, n)))
        return covers(interval((rng.random((PROMPTS, n)) < chance).mean(axis=0), PROMPTS), truth)

    return repeated(10_000, once)


# Differences: `differ` is the share of documents that only one side gets right, `truth` the second side's advantage.


def one_prompt(rng: np.random.Generator, n: int, differ: float, truth: float) -> tuple[Values, Values]:
    draw, both = rng.random(n), (rng.random(n) < 0.4).astype(float)
    gained, lost = draw < (differ + truth) / 2, draw >= 1 - (differ - truth) / 2
    return np.where(gained, 0.0, np.where(lost, 1.0, both)), np.where(gained, 1.0, np.where(lost, 0.0, both))


def several_prompts(rng: np.random.Generator, n: int, effect: float) -> Values:
    """Differences of means over prompts; the second side's chances are higher by an effect, and differ by document."""
    document = rng.normal(-0.5, 1.5, n)
    sides = [logistic(document + shift + rng.normal(0, 0.7, n)) for shift in (0, effect)]
    first, second = (rng.binomial(PROMPTS, chance) / PROMPTS for chance in sides)
    return np.asarray(second - first)


def tested(first: Values, second: Values, rng: np.random.Generator, level: float = LEVEL) -> PairedTest:
    """The test of one prompt; the generator is for tests that need one."""
    return of_flips(*flips(first, second), len(first), level)


def interval_of(first: Values, second: Values, rng: np.random.Generator, level: float = LEVEL) -> Interval | None:
    return tested(first, second, rng, level).interval(1.0)


def signed(differences: Values, rng: np.random.Generator) -> PairedTest:
    return of_signs(differences, rng, permutations=999)


def difference_rate(n: int, differ: float, truth: float, interval: Any) -> float:
    def once(rng: np.random.Generator) -> bool:
        first, second = one_prompt(rng, n, differ, truth)
        return covers(interval(first, second, rng), truth)

    return repeated(3000, once)


def differences_rate(n: int, differ: float, interval: Any) -> float:
    """The intervals of 16 languages, of which some truly differ: how often does each contain its truth?"""
    truths = np.linspace(0, differ, LANGUAGES)

    def once(rng: np.random.Generator) -> bool:
        level = LEVEL / LANGUAGES
        return all(covers(interval(*one_prompt(rng, n, differ, truth), rng, level), truth) for truth in truths)

    return repeated(1000, once)


def difference_over_prompts_rate(n: int, effect: float, test: Any) -> float:
    spread = np.hypot(1.5, 0.7)
    truth = logistic_mean(effect - 0.5, spread) - logistic_mean(-0.5, spread)
    return repeated(3000, lambda rng: covers(test(several_prompts(rng, n, effect), rng).interval(1.0), truth))


def mcnemar_rate(n: int, differ: float, test: Any) -> float:
    return repeated(4000, lambda rng: test(*one_prompt(rng, n, differ, 0.0), rng).p < LEVEL)


def permutation_rate(n: int, test: Any) -> float:
    return repeated(3000, lambda rng: test(several_prompts(rng, n, 0.0), rng).p < LEVEL)


def lopsided_rate(n: int, test: Any) -> float:
    """No difference on average: one document in ten gains a whole point, half of them lose a fifth."""
    levels, shares = [1.0, -0.2, 0.0], [0.1, 0.5, 0.4]
    return repeated(3000, lambda rng: test(rng.choice(levels, n, p=shares), rng).p < LEVEL)


def found_rate(n: int, differ: float, tests: int, visible: Any) -> float:
    """How often a true difference as large as `visible` is found where `tests` languages are looked at.

    Visible is asked of documents of which `differ` differ without advantage, as they are seen before the difference.
    """
    level = LEVEL / tests
    truth = visible(n, round(n * differ), level)

    def once(rng: np.random.Generator) -> bool:
        return tested(*one_prompt(rng, n, max(differ, truth), truth), rng, level).p < level

    return repeated(3000, once)


# Families: 16 languages are compared, and a family errs if it finds a difference in any language that has none.


def family_rate(true: int, adjust: Any) -> float:
    """Exact p-values of languages with documents of their own; the first few truly differ."""
    shift = np.array([3.0] * true + [0.0] * (LANGUAGES - true))

    def once(rng: np.random.Generator) -> bool:
        p_values = 2 * stats.norm.sf(abs(rng.normal(shift)))
        return any(adjust(p, LANGUAGES) < LEVEL for p in p_values[true:])

    return repeated(20_000, once)


def parallel_family_rate(n: int, adjust: Any) -> float:
    """McNemar's p-values of languages with the same documents, on which they tend to differ alike."""

    def once(rng: np.random.Generator) -> bool:
        tendency = rng.normal(0, 1, n)
        draws = stats.norm.cdf((tendency + rng.normal(0, 1, (LANGUAGES, n))) / np.sqrt(2))
        sides = ((draw < 0.15, draw > 0.85) for draw in draws)
        p_values = [tested(one.astype(float), other.astype(float), rng).p for one, other in sides]
        return any(adjust(p, LANGUAGES) < LEVEL for p in p_values)

    return repeated(2000, once)


# Means over languages: languages and documents are both drawn, and the truth is the mean of all there could be.


def _from_pool(rng: np.random.Generator, n: int, share: float) -> Any:
    """Returns which of a group's questions a language has; with a share under 1, every language has others."""
    return np.arange(n) if share == 1 else np.sort(rng.choice(round(n / share), n, replace=False))


def interval_over_languages(languages: list[dict[Any, float]]) -> Interval | None:
    """Returns the interval of a mean over languages; each has scores by the name of the question."""
    return over_languages([*map(named, languages)])


def mean_rate(groups: list[int], n: int, between: float, easy: float, share: float, interval: Any) -> float:
    """Languages of a group have the same n documents, translated, or share them; a hard one tends to be hard in each.

    `between` is how much languages differ, `easy` how much documents do in all languages of a group.
    """
    truth = logistic_mean(-0.5, float(np.sqrt(between**2 + easy**2 + OWN**2)))

    def once(rng: np.random.Generator) -> bool:
        pools = {group: rng.normal(0, easy, round(n / share)) for group in groups}
        languages = []
        for group in groups:
            asked = _from_pool(rng, n, share)
            chance = logistic(-0.5 + rng.normal(0, between) + pools[group][asked] + rng.normal(0, OWN, n))
            right = (rng.random(n) < chance).astype(float).tolist()
            languages.append({(group, question): v for question, v in zip(asked.tolist(), right, strict=True)})
        return covers(interval(languages), truth)

    return repeated(2000, once)


def _scores() -> Iterator[Simulation]:
    name = "interval, one prompt"
    for n, p in ((50, 0.25), (250, 0.5), (500, 0.98)):
        yield Simulation(
            name, f"{n} questions, score {percent(p)}", COVERS, wilson, partial(wilson_rate, n, p), 0.94, 0.97
        )
    name = "interval, several prompts"
    for n, p, alike in ((8, 0.5, 0.5), (100, 0.25, 0.2), (250, 0.4, 0.8), (500, 0.9, 0.5), (250, 0.98, 0.5)):
        setting = f"{n} questions, score {percent(p)}, alike {alike:.1f}"
        rate = partial(beta_rate, n, p, alike)
        yield Simulation(name, setting, COVERS, clustered_wilson, rate, 0.935, 0.965)
    setting = "250 questions, prompts differ"
    yield Simulation(name, setting, COVERS, clustered_wilson, partial(prompts_rate, 250), 0.94, 0.965)


def _differences() -> Iterator[Simulation]:
    name = "interval of a difference"
    for n, differ, truth in ((500, 0.2, 0.05), (50, 0.2, 0.05), (250, 0.02, 0.0), (250, 0.01, 0.0), (250, 0.01, 0.01)):
        gained = ", all gained" if truth == differ else ""
        rate, setting = partial(difference_rate, n, differ, truth), f"{n} questions, {percent(differ)} differ{gained}"
        yield Simulation(name, setting, COVERS_AT_LEAST, interval_of, rate, 0.945, 1.0)
    for n, effect in ((250, 0.5), (50, 0.5), (50, 2.0)):
        strong = ", large effect" if effect > 1 else ""
        rate = partial(difference_over_prompts_rate, n, effect)
        yield Simulation(name, f"{n} questions, 5 prompts{strong}", COVERS_AT_LEAST, signed, rate, 0.94, 0.98)
    name = "intervals of 16 differences at once"
    for n, differ in ((250, 0.2), (50, 0.2), (250, 0.04)):
        rate, setting = partial(differences_rate, n, differ), f"{n} questions, {percent(differ)} differ"
        yield Simulation(name, setting, COVERS_AT_LEAST, interval_of, rate, 0.945, 1.0)
    name = "p, one prompt"
    for n, differ, high in ((50, 0.2, 0.03), (250, 0.04, 0.03), (250, 0.2, 0.04), (500, 0.4, 0.05)):
        rate = partial(mcnemar_rate, n, differ)
        yield Simulation(name, f"{n} questions, {percent(differ)} differ", ERRS, tested, rate, 0.015, high)
    test = signed
    name = "p, several prompts"
    for n in (50, 250):
        yield Simulation(name, f"{n} questions", ERRS, test, partial(permutation_rate, n), 0.03, 0.055)
    yield Simulation(name, "250 questions, lopsided", ERRS, test, partial(lopsided_rate, 250), 0.04, 0.06)
    yield from _visible()


def _visible() -> Iterator[Simulation]:
    for n, differ, tests, low, high in (
        (500, 0.2, 1, 0.76, 0.83),
        (100, 0.2, 1, 0.76, 0.83),
        (250, 0.04, 1, 0.76, 0.83),
        (250, 0.02, 1, 0.76, 0.85),
        (500, 0.02, 1, 0.76, 0.83),
        (1000, 0.02, 1, 0.76, 0.83),
        (500, 0.2, LANGUAGES, 0.74, 0.83),
    ):
        setting = f"{n} questions, {percent(differ)} differ" + (f", {tests} languages" if tests > 1 else "")
        rate = partial(found_rate, n, differ, tests)
        yield Simulation("detectable difference", setting, FINDS, smallest_flips, rate, low, high)


def _languages() -> Iterator[Simulation]:
    name = "adjusted p"
    for true in (0, 4):
        setting = f"{LANGUAGES} languages, {true} truly differ"
        yield Simulation(name, setting, ERRS, bonferroni, partial(family_rate, true), 0.03, 0.055)
    rate = partial(parallel_family_rate, 250)
    yield Simulation(name, f"{LANGUAGES} languages, same questions", ERRS, bonferroni, rate, 0.02, 0.055)
    yield from _means()


# Languages by group, documents, how much languages and documents differ, share of documents, the table's words, bounds.
MEANS: list[tuple[list[int], int, float, float, float, str, float, float]] = [
    (list(range(16)), 250, 0.5, 1.2, 1.0, "16 languages, own questions", 0.935, 0.965),
    ([0] * 16, 250, 0.5, 1.2, 1.0, "16 languages, same questions", 0.935, 0.965),
    (list(range(16)), 250, 0.0, 1.2, 1.0, "16 languages, alike, own questions", 0.94, 0.975),
    ([0] * 16, 250, 0.0, 1.2, 1.0, "16 languages, alike, same questions", 0.94, 0.97),
    ([0] * 7, 50, 0.5, 1.2, 1.0, "7 languages, same 50 questions", 0.94, 0.97),
    ([0] * 7, 900, 0.3, 1.2, 1.0, "7 languages, same 900 questions", 0.935, 0.97),
    ([0] * 7, 250, 0.2, 2.5, 1.0, "7 languages, same questions, hard ones hard in all", 0.94, 0.975),
    ([0] * 7, 250, 0.2, 0.3, 1.0, "7 languages, same questions, hard ones differ", 0.94, 0.975),
    ([0] * 7 + [1], 250, 0.2, 2.5, 1.0, "7 languages, same questions, and 1 with its own", 0.94, 0.975),
    ([0] * 7 + [1], 250, 0.5, 1.2, 1.0, "7 languages, same questions, and 1 with its own, less alike", 0.935, 0.97),
    ([0] * 5 + [1] * 5, 250, 0.2, 2.5, 1.0, "5 and 5 languages, same questions in each group", 0.94, 0.975),
    ([0] * 4 + [1, 2, 3, 4], 250, 0.2, 2.5, 1.0, "4 languages, same questions, and 4 with their own", 0.94, 0.975),
    ([0] * 7, 250, 0.2, 2.5, 0.5, "7 languages, half of the questions the same", 0.94, 0.975),
    ([0] * 4, 250, 0.5, 1.2, 1.0, "4 languages, same questions", 0.935, 0.97),
    ([0] * 3, 250, 0.5, 1.2, 1.0, "3 languages, same questions", 0.935, 0.975),
    ([0] * 2, 250, 0.5, 1.2, 1.0, "2 languages, same questions", 0.935, 0.975),
    ([0, 1], 250, 0.5, 1.2, 1.0, "2 languages, own questions", 0.935, 0.97),
    ([0] * 3, 250, 0.0, 1.2, 1.0, "3 languages, alike, same questions", 0.95, 0.99),
    ([0, 1], 250, 0.0, 1.2, 1.0, "2 languages, alike, own questions", 0.97, 0.998),
]


def _means() -> Iterator[Simulation]:
    for groups, n, between, easy, share, setting, low, high in MEANS:
        rate = partial(mean_rate, groups, n, between, easy, share)
        yield Simulation("interval, mean over languages", setting, COVERS, interval_over_languages, rate, low, high)


# Parts of one benchmark, which stay the same; and prompts with several instructions each.


def parts_rate(sizes: list[int], chances: list[float], interval: Any) -> float:
    truth = float(np.mean(chances))

    def once(rng: np.random.Generator) -> bool:
        return covers(interval([rng.binomial(1, p, n) for n, p in zip(sizes, chances, strict=True)]), truth)

    return repeated(10_000, once)


def instructions_rate(n: int, p: float, alike: float, interval: Any) -> float:
    """Prompts have one to three instructions, and are beta: with one that is followed, others are as well."""

    def once(rng: np.random.Generator) -> bool:
        chance = rng.beta(p * (1 / alike - 1), (1 - p) * (1 / alike - 1), n)
        given = rng.choice([1, 2, 3], n, p=[0.56, 0.34, 0.1])
        kept = [rng.binomial(1, c, k).sum() for c, k in zip(chance, given, strict=True)]
        return covers(interval([np.column_stack([kept, given]).astype(float)]), p)

    return repeated(5_000, once)


def _tasks_with_parts() -> Iterator[Simulation]:
    name = "interval, macro"
    hard = np.linspace(0.35, 0.95, 57).tolist()
    unequal = np.linspace(100, 900, 57).astype(int).tolist()
    for sizes, what in ((unequal, "100 to 900"), ([20] * 57, "20"), ([5] * 57, "5")):
        rate = partial(parts_rate, sizes, hard)
        yield Simulation(name, f"57 parts of {what} questions", COVERS, over_parts, rate, 0.94, 0.965)
    rate = partial(parts_rate, [20] * 27, [0.98] * 27)
    yield Simulation(name, "27 parts of 20 questions, score 98 %", COVERS, over_parts, rate, 0.94, 0.965)
    name = "interval, instructions"
    right = partial(score_interval, metric("inst_level_strict_acc"))
    for n, alike in ((541, 0.3), (541, 0.8), (50, 0.3)):
        rate = partial(instructions_rate, n, 0.8, alike)
        yield Simulation(name, f"{n} prompts, score 80 %, alike {alike}", COVERS, right, rate, 0.94, 0.965)


SIMULATIONS = [*_scores(), *_differences(), *_languages(), *_tasks_with_parts()]
