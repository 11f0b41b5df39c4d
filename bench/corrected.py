"""Simulates judges whose errors are known: how often do corrected scores and differences cover what people would say?

Prints the tables of docs/statistics.md: `python bench/corrected.py`, or with how many evaluations, 1,000 if not given.
"""

import sys
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from afrieval.analysis.differences import difference
from afrieval.analysis.means import of_questions, over_languages
from afrieval.analysis.ranks import Contest, compared
from afrieval.analysis.scores import PromptMean
from afrieval.results.cell_scores import CellScores, Numbers, Values
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
    return CellScores("", "t", language, "eng", 1, {"": of}, {"": measures}, np.arange(n), np.full(n, -1), rows=n)


def spread(judged: Values, n: int, rng: np.random.Generator) -> Numbers:
    """Returns n answers, systematically from those in the order of their judged scores, as sheets have them."""
    order = np.lexsort((rng.random(len(judged)), judged))
    return order[((np.arange(n) + rng.random()) * len(judged) / n).astype(int)]


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
            rng, row, alone = np.random.default_rng(1), [], []
            for n in RATED:
                corrected, of_people, of_sheets = [], [], []
                for _ in range(runs):
                    people = rng.choice(5, ANSWERS, p=shares) / 4
                    judged = judge(people, rng)
                    of = stored(judged, people, anyhow(judged, n, rng))
                    corrected.append(found(cell(CORRECTED, of).interval, true))
                    of_people.append(found(cell(PEOPLE, of[of[:, 2] == 1, 1:2]).interval, true))
                    of_sheet = stored(judged, people, spread(judged, n, rng))
                    of_sheets.append(found(cell(CORRECTED, of_sheet).interval, true))
                    alone.append(found(cell(JUDGE, judged[:, None]).interval, true))
                row += [shown(corrected), shown(of_sheets), shown(of_people)]
            yield [levels, name, shown(alone), *row]


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
    """Yields how often the difference of two models is covered, and found where there is none."""
    for together in (True, False):
        for true in (0.0, 0.1):
            rng, row = np.random.default_rng(2), []
            for n in RATED[1:]:
                covers, finds = [], 0
                for _ in range(runs):
                    sides = models(rng, (0.6, 0.6 + true), n, together, 0.15)
                    one = difference(*(PromptMean([cell(CORRECTED, of)]) for of in sides), 1, 42)
                    covers.append(found(one.interval, true))
                    finds += one.adjusted < LEVEL
                row += [shown(covers), f"{100 * finds / runs:.0f} %"]
            yield ["the same" if together else "others", f"{100 * true:.0f}", *row]


def languages(runs: int, k: int = 5) -> Iterator[list[str]]:
    """Yields how often means over languages are covered, and how often one of two equal models ranks higher."""
    for together in (True, False):
        rng, row = np.random.default_rng(3), []
        for n in RATED[1:]:
            covers, finds = [], 0
            for _ in range(runs):
                hard = rng.random(ANSWERS)
                rated, entries = anyhow(hard, n, rng), [{}, {}]
                for code in map(str, range(k)):
                    share = 0.6 + 0.1 * rng.standard_normal()
                    for at, entry in enumerate(entries):
                        easy = np.where(rng.random(ANSWERS) < 0.5, hard, rng.random(ANSWERS))
                        people = (easy < share).astype(float)
                        judged = kind(noisy(people, rng), rng, 0.15 * at)
                        of = stored(judged, people, rated if together else anyhow(hard, n, rng))
                        entry[code] = of_questions([cell(CORRECTED, of, code)])
                covers.append(found(over_languages(list(entries[0].values())), 0.6))
                scaled = [{code: of.times(100) for code, of in entry.items()} for entry in entries]
                finds += compared([Contest(1.0, "", scaled, (0.0, 100.0))])[1][0, 1] < LEVEL
            row += [shown(covers), f"{100 * finds / runs:.0f} %"]
        yield ["the same" if together else "others", *row]


def printed(head: list[str], rows: Iterator[list[str]]) -> None:
    """Prints a table in Markdown, row by row."""
    for row in [head, ["---"] * len(head)]:
        print(f"| {' | '.join(row)} |")
    for row in rows:
        print(f"| {' | '.join(row)} |", flush=True)
    print()


if __name__ == "__main__":
    asked = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000
    each = [f"{n} rated: {what}" for n in RATED for what in ("corrected", "from a sheet", "people alone")]
    printed(["levels", "judge", "judge alone", *each], scores(asked))
    each = [f"{n} rated{what}" for n in RATED[1:] for what in ("", ", found")]
    printed(["rated documents", "true difference", *each], differences(asked))
    each = [f"{n} rated{what}" for n in RATED[1:] for what in (": mean", ", a difference found")]
    printed(["rated documents", *each], languages(asked))
