"""Means over languages with an interval that respects both documents and languages."""

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import stats

from afrieval.analysis.questions import numbered
from afrieval.analysis.scores import averaged
from afrieval.grouping import grouped
from afrieval.languages import LANGUAGES
from afrieval.results.scores import CellScores
from afrieval.statistics.intervals import Interval, wilson

Question = tuple[int, int]  # its number, and the right answer
Scores = Mapping[Any, float]  # of one language, by question; a question of several has the same name in all
GROUPINGS: dict[str, Callable[[str], str]] = {
    "Africa": lambda code: "Africa",
    "family": lambda code: LANGUAGES[code].family,
    "script": lambda code: LANGUAGES[code].script,
    "region": lambda code: LANGUAGES[code].region,
}


@dataclass(frozen=True)
class Mean:
    """A macro mean: each language counts the same.

    Attributes:
        dimensions: what the cells are, but for language and prompt.
        grouping: what the languages have in common: Africa, family, script or region.
        members: the languages.
        interval: over languages and documents; None for a single language, or a metric without one.
        alone: members that share no question with another one, as far as is known.
        differing: questions that have another right answer in some of the languages that share them.
    """

    task: str
    dimensions: dict[str, Any]
    grouping: str
    name: str
    members: list[str]
    score: float
    interval: Interval | None
    alone: list[str]
    differing: int


def means(cells: list[CellScores], groupings: list[str]) -> list[Mean]:
    """Returns the means over African languages, and over groups of them.

    Args:
        cells: those of English, French and others that are not African are left out, and so are languages whose data
            has a known defect as a whole.
        groupings: some of `GROUPINGS`.
    """
    african = (c for c in cells if LANGUAGES[c.language].african and not c.defect)
    found = []
    for of_place in grouped(african, lambda c: (c.task, *c.but("language", "prompt").items())).values():
        languages = grouped(numbered(of_place), lambda c: c.language)
        scores = {language: _by_question(languages[language]) for language in sorted(languages)}
        for grouping in groupings:
            of_name = grouped(languages, GROUPINGS[grouping])
            for name, members in of_name.items():
                found.append(_mean(of_place[0], grouping, name, {code: scores[code] for code in sorted(members)}))
    return found


def _by_question(cells: list[CellScores]) -> dict[Question, float]:
    """Returns a language's mean over prompts, by question and right answer."""
    average = averaged(cells)
    questions = zip(average.ids.tolist(), average.cells[0].golds.tolist(), strict=True)
    return dict(zip(questions, average.values.tolist(), strict=True))


def _mean(cell: CellScores, grouping: str, name: str, members: dict[str, dict[Question, float]]) -> Mean:
    of_each = list(members.values())
    score = float(np.mean([np.mean(list(scores.values())) for scores in of_each]))
    has_interval = len(members) > 1 and cell.metric.interval != "none"
    interval = over_languages(of_each, cell.metric.bounds) if has_interval else None
    times = Counter(question for scores in of_each for question in scores)
    alone = [code for code, scores in members.items() if all(times[question] == 1 for question in scores)]
    differing = len(times) - len({question for question, _ in times})
    dimensions = cell.but("language", "prompt")
    return Mean(cell.task, dimensions, grouping, name, list(members), score, interval, alone, differing)


def over_languages(languages: Sequence[Scores], bounds: tuple[float, float] = (0.0, 1.0)) -> Interval | None:
    """Returns the 95 % interval of a mean of means, over languages and documents.

    Both are drawn, as in sampling in two stages (Cochran 1977, "Sampling Techniques", chapter 10). For k languages with
    means m, whatever questions they share, the mean's variance is exactly E[var(m)] / k + C, where var(m) is the sample
    variance of the means and C the mean covariance of two of them. `shared_variance` estimates C, as for clusters that
    cross (Cameron, Gelbach & Miller 2011, "Robust Inference With Multiway Clustering"; Miller 2024, "Adding Error Bars
    to Evals", has it for one model's clusters). The two parts are as sure as there are languages and questions, so each
    gets its own Student's t before they are added as squares (Zou & Donner 2008, "Construction of confidence limits
    about effect measures"). Means that happen to be close are no certainty: the first part is at least what the
    questions of each language alone give. Other ways were tried in the simulations of docs/statistics.md: one t for all
    covered up to 100 %, Satterthwaite's degrees of freedom down to 92 %.

    Args:
        languages: each language's scores by question, two languages or more.
        bounds: lowest and highest score.
    """
    values = [np.array(list(scores.values())) for scores in languages]
    means = np.array([of_language.mean() for of_language in values])
    k, middle = len(means), float(means.mean())
    shared = shared_variance(languages)
    own = float(np.mean([v.var(ddof=1) / len(v) if len(v) > 1 else 0.0 for v in values])) - shared
    questions = len({question for scores in languages for question in scores})
    of_languages, of_questions = (float(stats.t.ppf(0.975, max(n - 1, 1))) ** 2 for n in (k, questions))
    between = max(of_languages * float(means.var(ddof=1)), of_questions * own) / k
    half = math.sqrt(between + of_questions * shared)
    if half == 0:
        n = min(map(len, values))
        return wilson(middle * n, n) if bounds == (0.0, 1.0) else None
    return Interval(max(bounds[0], middle - half), min(bounds[1], middle + half))


def shared_variance(languages: Sequence[Scores]) -> float:
    """Returns what all languages' means have in common: the mean covariance of two of them, at least 0.

    Two languages' means covary as their scores do on the questions that both have, and the less, the fewer these are.

    Args:
        languages: each language's scores by question, two languages or more.
    """
    place = {question: at for at, question in enumerate({q: None for scores in languages for q in scores})}
    scores, here = np.zeros((2, len(languages), len(place)))
    for row, of_language in enumerate(languages):
        columns = [place[question] for question in of_language]
        scores[row, columns], here[row, columns] = list(of_language.values()), 1.0
    both = here @ here.T  # how many questions two languages share
    sums = scores @ here.T  # the first one's scores on these
    products = scores @ scores.T - sums * sums.T / np.maximum(both, 1)
    covariances = np.where(both > 1, products / np.maximum(both - 1, 1), 0.0)
    counts = np.diag(both)
    of_means = covariances * both / np.outer(counts, counts)
    np.fill_diagonal(of_means, 0.0)
    k = len(languages)
    return max(0.0, float(of_means.sum()) / (k * (k - 1)))
