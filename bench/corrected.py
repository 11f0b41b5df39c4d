"""Simulates judges whose errors are known: how often do corrected scores and differences cover what people would say?

`python bench/corrected.py > docs/tables/corrected.md` writes the page, of 1,000 evaluations if no number is given.
"""

import sys
from collections.abc import Callable, Iterator
from itertools import product
from typing import NamedTuple

import numpy as np

from afrieval.analysis.differences import difference
from afrieval.analysis.means import of_questions, over_languages
from afrieval.analysis.ranks import Contest, compared
from afrieval.analysis.scores import ByQuestion, PromptMean
from afrieval.results.cell_scores import CellScores
from afrieval.results.document_columns import Numbers, Values
from afrieval.scoring.base import Metric
from afrieval.scoring.learned import learned
from afrieval.scoring.statistics.intervals import LEVEL, Interval

CORRECTED, JUDGE, PEOPLE = (learned(name) for name in ("corrected_a", "judge_a", "people"))
ANSWERS, RATED = 300, (10, 20, 40, 100)
KINDS = {
    "60 % right": (0.4, 0, 0, 0, 0.6),
    "90 % harmless": (0.1, 0, 0, 0, 0.9),
    "5 levels": (0.1, 0.15, 0.25, 0.3, 0.2),
}
WHICH = {True: "the same of both", False: "others of each"}
PAGE = """# Corrected scores in simulations

[Judged scores](../statistics.md#judged-scores) explains corrected scores. Each row is of {runs:,}
evaluations of 300 answers whose true scores are known. A number such as 95 % ±9 says how often the
95 % interval contains the true score, and half its mean width in points.

A judge that is too high is so by 15 points, or as far as there is room; a noisy one is wrong in a
quarter of the answers, or up to two levels off. A useless one knows nothing but how often each
level is given. From a sheet: the answers to rate are spread over the judged scores, as `afrieval
review answers` does it.

<!-- written by bench/corrected.py -->

{scores}

## Differences of two models

Both have true scores of 60 %, or one has 70 %. The judge is noisy and 15 points too kind to the
second.

{differences}

## Means over five languages

Languages share their questions, and their true scores differ by 10 points (standard deviation). The
judge is again too kind to the second of two equal models.

{languages}
"""
Judge = Callable[[Values, np.random.Generator], Values]


def kind(people: Values, rng: np.random.Generator, by: float = 0.15) -> Values:
    """Returns judgements that are wrong upwards, by so much on average as far as there is room."""
    if set(np.unique(people)) <= {0.0, 1.0}:
        return np.where(rng.random(len(people)) < by / max(0.01, 1 - people.mean()), 1.0, people)
    return np.minimum(1, people + rng.binomial(1, min(1, 5 * by), len(people)) / 4)


def noisy(people: Values, rng: np.random.Generator) -> Values:
    """Returns judgements of which a quarter are wrong, or up to two levels off."""
    if set(np.unique(people)) <= {0.0, 1.0}:
        return np.where(rng.random(len(people)) < 0.25, 1 - people, people)
    return np.clip(people + rng.choice([-2, -1, 0, 1, 2], len(people), p=[0.1, 0.2, 0.4, 0.2, 0.1]) / 4, 0, 1)


JUDGES: dict[str, Judge] = {
    "15 points too high": kind,
    "too high and noisy": lambda people, rng: kind(noisy(people, rng), rng),
    "noisy": noisy,
    "useless": lambda people, rng: rng.permutation(people),
    "right but for 5 %": lambda people, rng: kind(people, rng, 0.05),
    "perfect": lambda people, rng: people,
}


def stored(judged: Values, people: Values, rated: Numbers) -> Values:
    """Returns the measures of a corrected score."""
    here = np.zeros(len(judged))
    here[rated] = 1
    return np.stack([judged, here * people, here], axis=1)


def cell(of: Metric, measures: Values, language: str = "hau") -> CellScores:
    """Returns scores of the suite."""
    n = len(measures)
    return CellScores(
        "t",
        language,
        1,
        "eng",
        name="",
        metrics={"": of},
        measures={"": measures},
        ids=np.arange(n),
        golds=np.full(n, -1),
        rows=n,
    )


def spread(judged: Values, n: int, rng: np.random.Generator) -> Numbers:
    """Returns n answers, systematically from those in the order of their judged scores, as sheets have them."""
    order = np.lexsort((rng.random(len(judged)), judged))
    return np.asarray(order[((np.arange(n) + rng.random()) * len(judged) / n).astype(int)])


def anyhow(judged: Values, n: int, rng: np.random.Generator) -> Numbers:
    """Returns n answers at random."""
    return rng.choice(len(judged), n, replace=False)


class Found(NamedTuple):
    """Whether an interval covers the truth, and half its width in points."""

    covers: float
    half: float


def found(interval: Interval | None, true: float) -> Found:
    """Returns whether an interval covers the truth; one that nothing is known of covers all."""
    if interval is None:
        return Found(1, 100)
    return Found(interval.low <= true <= interval.high, 50 * (interval.high - interval.low))


def shown(every: list[Found]) -> str:
    """Returns how often intervals cover, in percent, and half their mean width in points."""
    covers, half = np.mean(every, axis=0)
    return f"{100 * covers:.0f} % ±{half:.0f}"


def scores(runs: int) -> Iterator[list[str]]:
    """Yields a row for each kind of levels, judge and number of ratings."""
    for levels, shares in KINDS.items():
        true = float(np.arange(5) / 4 @ np.array(shares))
        for name, judge in JUDGES.items():
            if levels == "90 % harmless" and name in ("15 points too high", "too high and noisy"):
                continue  # there is no room
            rng = np.random.default_rng(1)
            for n in RATED:
                every: list[list[Found]] = [[], [], [], []]
                for _ in range(runs):
                    people = rng.choice(5, ANSWERS, p=shares) / 4
                    judged = judge(people, rng)
                    of, of_sheet = (stored(judged, people, drawn(judged, n, rng)) for drawn in (anyhow, spread))
                    sides = [(JUDGE, judged[:, None]), (CORRECTED, of), (CORRECTED, of_sheet)]
                    sides.append((PEOPLE, of[of[:, 2] == 1, 1:2]))
                    for into, (metric, measures) in zip(every, sides, strict=True):
                        into.append(found(cell(metric, measures).interval, true))
                yield [levels, name, str(n), *map(shown, every)]


def models(
    rng: np.random.Generator, shares: tuple[float, float], n: int, together: bool, favours: float
) -> list[Values]:
    """Returns the measures of two models on the same questions, whose answers to a question tend to be alike."""
    hard = rng.random(ANSWERS)
    rated = anyhow(hard, n, rng)
    sides = []
    for at, share in enumerate(shares):
        people = (np.where(rng.random(ANSWERS) < 0.5, hard, rng.random(ANSWERS)) < share).astype(float)
        judged = kind(noisy(people, rng), rng, favours * at)
        sides.append(stored(judged, people, rated if together else anyhow(hard, n, rng)))
    return sides


def differences(runs: int) -> Iterator[list[str]]:
    """Yields how often the difference of two models is covered, and found."""
    for together, true in product((True, False), (0.0, 0.1)):
        rng = np.random.default_rng(2)
        for n in RATED[1:]:
            covers, finds = [], 0
            for _ in range(runs):
                sides = models(rng, (0.6, 0.6 + true), n, together, 0.15)
                first, second = (PromptMean([cell(CORRECTED, of)]) for of in sides)
                one = difference(first, second, 1, 42)
                covers.append(found(one.interval, true))
                finds += one.adjusted < LEVEL
            yield [WHICH[together], f"{100 * true:.0f}", str(n), shown(covers), f"{100 * finds / runs:.0f} %"]


def languages(runs: int, k: int = 5) -> Iterator[list[str]]:
    """Yields how often means over languages are covered, and how often one of two equal models ranks higher."""
    for together in (True, False):
        rng = np.random.default_rng(3)
        for n in RATED[1:]:
            covers, finds = [], 0
            for _ in range(runs):
                entries = equal_models(rng, n, k, together)
                covers.append(found(over_languages(list(entries[0].values())), 0.6))
                scaled = [{code: of.times(100) for code, of in entry.items()} for entry in entries]
                finds += compared([Contest(1.0, "", scaled, (0.0, 100.0))])[1][0, 1] < LEVEL
            yield [WHICH[together], str(n), shown(covers), f"{100 * finds / runs:.0f} %"]


def equal_models(rng: np.random.Generator, n: int, k: int, together: bool) -> list[dict[str, ByQuestion]]:
    """Returns the scores of two models that are equally good in languages that differ; the judge favours the second."""
    hard = rng.random(ANSWERS)
    rated, entries = anyhow(hard, n, rng), [dict[str, ByQuestion](), dict[str, ByQuestion]()]
    for code in map(str, range(k)):
        share = 0.6 + 0.1 * rng.standard_normal()
        for at, entry in enumerate(entries):
            people = (np.where(rng.random(ANSWERS) < 0.5, hard, rng.random(ANSWERS)) < share).astype(float)
            judged = kind(noisy(people, rng), rng, 0.15 * at)
            of = stored(judged, people, rated if together else anyhow(hard, n, rng))
            entry[code] = of_questions([cell(CORRECTED, of, code)])
    return entries


def table(head: list[str], rows: Iterator[list[str]]) -> str:
    """Returns a table in Markdown."""
    lines = [head, ["---"] * 2 + ["---:"] * (len(head) - 2), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def page(runs: int) -> str:
    """Returns the page."""
    of_scores = ["levels", "judge", "rated", "judge alone", "corrected", "corrected, from a sheet", "people alone"]
    of_differences = ["rated answers", "true difference", "rated", "covered, half width", "found"]
    of_languages = ["rated answers", "rated", "mean: covered, half width", "one of two equal models ranks higher"]
    return PAGE.format(
        runs=runs,
        scores=table(of_scores, scores(runs)),
        differences=table(of_differences, differences(runs)),
        languages=table(of_languages, languages(runs)),
    )


if __name__ == "__main__":
    print(page(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000), end="")
