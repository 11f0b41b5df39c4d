"""Means over languages with an interval that respects both documents and languages."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import stats

from afrieval.analysis.questions import numbered
from afrieval.languages import LANGUAGES
from afrieval.results.units import Unit
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
        interval: over languages and documents; None for a single language.
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


def means(units: list[Unit], groupings: list[str]) -> list[Mean]:
    """Returns the means over African languages, and over groups of them.

    Args:
        units: cells; those of English, French and others that are not African are left out.
        groupings: some of `GROUPINGS`.
    """
    places: dict[tuple[Any, ...], list[Unit]] = {}
    for unit in units:
        if LANGUAGES[unit.language].african:
            rest = {d: v for d, v in unit.dimensions.items() if d not in ("language", "prompt")}
            places.setdefault((unit.task, *rest.items()), []).append(unit)
    found = []
    for (task, *rest_items), of_place in places.items():
        languages: dict[str, list[Unit]] = {}
        for unit in numbered(of_place):
            languages.setdefault(unit.language, []).append(unit)
        scores = {language: _by_question(of_language) for language, of_language in languages.items()}
        for grouping in groupings:
            for name in dict.fromkeys(GROUPINGS[grouping](language) for language in scores):
                members = {code: scores[code] for code in sorted(scores) if GROUPINGS[grouping](code) == name}
                found.append(_mean(task, dict(rest_items), grouping, name, members))
    return found


def _by_question(units: list[Unit]) -> dict[Question, float]:
    """Returns a language's mean over prompts, by question and right answer, where all prompts asked the same."""
    scores: dict[Question, list[float]] = {}
    for unit in units:
        rows = zip(unit.ids.tolist(), unit.golds.tolist(), unit.values.tolist(), strict=True)
        for question, gold, value in rows:
            scores.setdefault((question, gold), []).append(value)
    of_all = {question: values for question, values in scores.items() if len(values) == len(units)}
    return {question: float(np.mean(values)) for question, values in (of_all or scores).items()}


def _mean(
    task: str, dimensions: dict[str, Any], grouping: str, name: str, members: dict[str, dict[Question, float]]
) -> Mean:
    of_each = list(members.values())
    score = float(np.mean([np.mean(list(scores.values())) for scores in of_each]))
    interval = over_languages(of_each) if len(members) > 1 else None
    times: dict[Question, int] = {}
    for question in (question for scores in of_each for question in scores):
        times[question] = times.get(question, 0) + 1
    alone = [code for code, scores in members.items() if all(times[question] == 1 for question in scores)]
    differing = len(times) - len({question for question, _ in times})
    return Mean(task, dimensions, grouping, name, list(members), score, interval, alone, differing)


def over_languages(languages: Sequence[Scores]) -> Interval:
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
        return wilson(middle * n, n)
    return Interval(max(0.0, middle - half), min(1.0, middle + half))


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
