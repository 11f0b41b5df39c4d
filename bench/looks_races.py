"""Races of made-up models, and of real ones on their recorded answers: is the winner right, and at which cost?"""

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from looks_simulated import answers, ends, of_suite, within

from afrieval.analysis.race import begun, looked_at
from afrieval.analysis.ranks import PERCENT, Contest, Rank, ranks
from afrieval.analysis.scores import ByQuestion
from afrieval.results.comparable_runs import read_runs
from afrieval.results.document_columns import Values
from afrieval.scoring.statistics.looks import looks
from afrieval.tasks.data.sampling import sample_order

MARGINS = (0.0, 1.0, 2.0, 5.0)  # points
FIVE = 5
LEAST = 0.9  # of the questions; models with fewer answers are left out
NUMBERS: dict[int, Any] = {}  # of the first n questions; the same array for all models is faster


class End(NamedTuple):
    """How a race ended.

    Attributes:
        winner: the model with the highest score of those that are left.
        left: which models are left.
        share: of the cost, which is that of all questions to all models.
    """

    winner: int
    left: Any
    share: float


def contest(right: Values, asked: Sequence[int], planned: int) -> Contest:
    """Returns what models answered, each the first of the questions; right has 1 and 0, shape (models, rows)."""
    scores = [
        ByQuestion(NUMBERS.setdefault(n, np.arange(n)), 100 * of[:n], planned)
        for of, n in zip(right, asked, strict=True)
    ]
    return Contest(1.0, "", [{"": each} for each in scores], PERCENT)


def race(right: Values, margins: Sequence[float] = (0.0,)) -> dict[float, End]:
    """Returns the end for each margin; models leave that are shown to be worse, whatever the margin."""
    models, rows = right.shape
    sizes, ends = looks(rows), dict[float, End]()
    asked, running = np.zeros(models, dtype=int), np.ones(models, dtype=bool)
    for n in sizes:
        asked[running] = n
        contests = [contest(right, asked.tolist(), len(sizes))]
        for margin in sorted(set(margins) - set(ends), reverse=True):
            found = looked_at(begun(len(right)), n, contests, margin)
            still = running & [rank.first == 1 for rank in found.ranks]
            still = still if still.any() else running
            if still.sum() > 1 and not np.all(found.within, where=still) and n < rows:
                break  # not within a smaller margin either
            winner = int(np.argmax(np.where(still, found.scores, -np.inf)))
            ends[margin] = End(winner, still, float(asked.sum() / right.size))
        running = still
        if len(ends) == len(margins):
            break
    return ends


# Made-up models: true scores, in percent.


def equal_rate(models: int, rows: int, repeats: int) -> float:
    """Returns how often one of several equal models is said to be better than another, at any look."""
    rng = np.random.default_rng(models)
    found = (race(answers(rng, [0.5] * models, rows))[0.0] for _ in range(repeats))
    return sum(not end.left.all() for end in found) / repeats


def lost_rate(scores: Sequence[float], rows: int, repeats: int) -> float:
    """Returns how often the best model, which is the first one, has left by the end."""
    rng, chances = np.random.default_rng(3), [score / 100 for score in scores]
    return sum(not race(answers(rng, chances, rows))[0.0].left[0] for _ in range(repeats)) / repeats


def within_rate(margin: float, rows: int, repeats: int) -> float:
    """Returns how often a race calls models alike whose true difference is the margin."""
    rng, chances = np.random.default_rng(4), [0.5 + margin / 100, 0.5]
    found = (race(answers(rng, chances, rows), [margin])[margin] for _ in range(repeats))
    return sum(bool(end.left.all()) and end.share < 1 for end in found) / repeats


class Power(NamedTuple):
    """How often a race, and all rows asked at once, show which of two models is better, and the share of the cost."""

    race: float
    fixed: float
    share: float


def power(difference: float, rows: int, repeats: int) -> Power:
    """Returns the power for two models whose true scores differ by some points."""
    rng, chances = np.random.default_rng(5), [0.5 + difference / 200, 0.5 - difference / 200]
    found = []
    for _ in range(repeats):
        right = answers(rng, chances, rows)
        end = race(right)[0.0]
        alone = end.left.sum() == 1 and end.winner == 0
        found.append((alone, ranks([contest(right, [rows] * 2, 1)], drawn=False)[0] == Rank(1, 1), end.share))
    return Power(*np.mean(found, axis=0).tolist())


# Recorded answers.


class Recorded(NamedTuple):
    """Answers of real models to the same questions.

    Attributes:
        models: the one with the highest score first.
        right: 1 or 0, shape (models, questions).
        groups: of each question, its category.
    """

    models: list[str]
    right: Values
    groups: list[str]


def read(folder: Path) -> Recorded:
    """Reads the files of MMLU-Pro's answers, or run folders, in a folder; of several prompts, the first one."""
    of_models = {name: found for name, found in [*_files(folder), *_runs(folder)] if found}
    most = max(map(len, of_models.values()), default=0)
    kept = {name: found for name, found in of_models.items() if len(found) >= LEAST * most}
    shared = sorted(set.intersection(*map(set, kept.values()))) if kept else []
    right = {name: np.array([found[key] for key in shared]) for name, found in kept.items()}
    models = sorted(right, key=lambda name: -right[name].mean())
    return Recorded(models, np.array([right[name] for name in models]), [key[0] for key in shared])


Answers = Mapping[tuple[str, int], float]  # category and number of a question to its score


def _files(folder: Path) -> Iterator[tuple[str, Answers]]:
    for path in sorted(folder.glob("*.json")):
        lines = json.loads(path.read_text(encoding="utf-8"))
        name = path.stem.removeprefix("model_outputs_").removesuffix("_5shots").replace("3_1", "3.1")
        if all(isinstance(line, dict) and "question_id" in line for line in lines):
            yield name, {(x["category"], x["question_id"]): float(x.get("pred") == x["answer"]) for x in lines}


def _runs(folder: Path) -> Iterator[tuple[str, Answers]]:
    runs = [path.parent for path in sorted(folder.glob("*/run.yaml"))]
    of_models: dict[str, dict[tuple[str, int], float]] = {}
    for cell in read_runs(runs) if runs else ():
        found = of_models.setdefault(cell.model, {})
        if cell.metric.is_mean and np.isin(cell.values, (0.0, 1.0)).all():
            for number, value in zip(cell.ids.tolist(), cell.values.tolist(), strict=True):
                found.setdefault((f"{cell.task} {cell.language}", number), value)
    yield from of_models.items()


def orders(found: Recorded, shuffles: int) -> list[list[int]]:
    """Returns the order in which the suite's samples take the questions, for several seeds."""
    names = [str(number) for number in range(len(found.groups))]
    return [sample_order(names, [found.groups], str(seed)) for seed in range(shuffles)]


def fives(models: int) -> dict[str, list[int]]:
    """Returns sets of five models, by their places: far apart, and neighbours in the order of scores."""
    apart = (models - 1) // (FIVE - 1)
    far = {f"every {apart}th model": list(range(0, FIVE * apart, apart)[:FIVE])} if apart > 1 else {}
    return far | {f"ranks {at + 1}-{at + FIVE}": list(range(at, at + FIVE)) for at in range(0, models - FIVE + 1, 3)}


class Outcome(NamedTuple):
    """What became of the races of five models: how often the winner is right, and the mean share of the cost."""

    right: float
    share: float


def recorded(found: Recorded, of: Sequence[int], order: Sequence[Sequence[int]], rows: int) -> dict[float, Outcome]:
    """Returns the outcome for each margin of races over the first rows of each order, which are the whole set."""
    ended: dict[float, list[tuple[bool, float]]] = {margin: [] for margin in MARGINS}
    for each in order:
        right = found.right[np.ix_(of, each[:rows])]
        whole = 100 * right.mean(axis=1)
        for margin, end in race(right, MARGINS).items():
            ended[margin].append((whole[end.winner] >= whole.max() - margin - 1e-9, end.share))
    return {margin: Outcome(*np.mean(ends, axis=0).tolist()) for margin, ends in ended.items()}


class Until(NamedTuple):
    """The mean number of questions until scores are precise, and how often the interval then has the whole set's."""

    questions: float
    right: float


def until(found: Recorded, order: Sequence[Sequence[int]], points: float) -> Until:
    """Returns what samples need that grow until a score is known to plus or minus some points; the mean over models."""
    sizes = looks(len(found.groups))
    asked, covers = [], []
    for of in found.right:
        counts = np.array([of[each].cumsum()[np.array(sizes) - 1] for each in order]).astype(int)
        intervals = ends(counts, sizes, partial(of_suite, planned=len(sizes)))
        stopped = within(points)(intervals, counts / sizes)
        low, high = intervals[np.arange(len(order)), stopped].T
        asked.append(np.array(sizes)[stopped].mean())
        covers.append(((low <= of.mean()) & (of.mean() <= high)).mean())
    return Until(float(np.mean(asked)), float(np.mean(covers)))


class Saved(NamedTuple):
    """The share of the variance of a model's score that others' answers to all questions explain: least to most."""

    least: float
    median: float
    most: float


def saved(found: Recorded) -> dict[str, Saved]:
    """Returns what control variates save: the model whose answers are most alike, and the mean of all other models."""
    alike = np.asarray(np.corrcoef(found.right) ** 2)
    np.fill_diagonal(alike, 0.0)
    others = found.right.sum(axis=0) - found.right
    of_mean = [np.corrcoef(of, other)[0, 1] ** 2 for of, other in zip(found.right, others, strict=True)]
    shares = {"the most similar model": alike.max(axis=1), "the mean of all other models": of_mean}
    return {name: Saved(*np.quantile(of, [0, 0.5, 1]).tolist()) for name, of in shares.items()}
