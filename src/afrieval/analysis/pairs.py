"""Differences of all pairs of entrants in a task, and how sure they are.

Two runs are compared on the questions that both have, by the differences of their scores. Published scores have no
questions: their error is that of single scores, at most as large as if the errors in all languages were the same. The
two errors of a pair then add up as if they were independent, which is on the safe side, since both answer the same
questions.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from afrieval.analysis.by_question import Scores, places, values_of
from afrieval.analysis.widths import Stated, Values, mean_covariance
from afrieval.results.scores import Numbers

PERCENT = (0.0, 100.0)


class Contest(NamedTuple):
    """A task in which entrants are compared.

    Attributes:
        weight: in the average over tasks.
        data: the data set; tasks on the same one share documents.
        entries: of each entrant, its scores by language, all of the same languages; higher is better.
        bounds: the lowest and the highest score that there are; empty if scores are not in percent.
    """

    weight: float
    data: str
    entries: Sequence[Mapping[Any, Scores | Stated]]
    bounds: tuple[float, ...] = ()


class Pairs(NamedTuple):
    """What is known of the differences of all k entrants in one task, in l languages.

    Attributes:
        differences: of the first entrant less the second, shape (k, k, l).
        shared: variance of the mean difference that all languages have in common, shape (k, k).
        own: what the documents of each language add to it, shape (k, k).
        questions: how many both have, shape (k, k).
    """

    differences: Values
    shared: Values
    own: Values
    questions: Values


class _Asked(NamedTuple):
    """An entrant's scores by question in each language, and the places of the questions among n."""

    scores: list[Values]
    columns: list[Numbers]
    n: int

    def arrays(self) -> tuple[Values, Values]:
        """Returns the scores, shape (l, n), and where there is one; those of all entrants do not fit into memory."""
        values, here = np.zeros((2, len(self.scores), self.n))
        for row, (scores, columns) in enumerate(zip(self.scores, self.columns, strict=True)):
            values[row, columns], here[row, columns] = scores, 1.0
        return values, here


def pairs(contest: Contest) -> Pairs:
    """Returns the differences of all pairs.

    Args:
        contest: entrants with a known error.
    """
    languages = list(contest.entries[0])
    stated = [[_stated(entry[code], contest.bounds) for code in languages] for entry in contest.entries]
    scores, errors, counts = (np.array([[s[at] for s in row] for row in stated]) for at in range(3))
    error, least = errors.mean(axis=1), counts.min(axis=1)
    found = Pairs(
        scores[:, None] - scores[None],
        np.add.outer(error**2, error**2),
        np.zeros((len(scores), len(scores))),
        np.minimum.outer(least, least).astype(np.float64),
    )
    asked = _asked(contest.entries, languages)
    for i, others in ((i, [j for j in asked if j > i]) for i in asked):
        scores, here = asked[i].arrays()
        for j in others:
            of_other, there = asked[j].arrays()
            both = here * there
            if both.any(axis=1).all():
                _pair(found, i, j, (scores - of_other) * both, both)
    return found


def stated(score: float, n: int) -> Stated:
    """Returns a published accuracy with its standard error, never 0: as if two more documents were right and two wrong.

    Agresti & Coull 1998, "Approximate Is Better than Exact for Interval Estimation of Binomial Proportions".

    Args:
        score: 0 to 1.
        n: number of documents.
    """
    p = (n * score + 2) / (n + 4)
    return Stated(score, math.sqrt(p * (1 - p) / (n + 4)), n)


def _stated(scores: Scores | Stated, bounds: tuple[float, ...]) -> Stated:
    """Returns a score as if its documents were not known, and with four more, two of the lowest and two of the highest.

    A few documents that are all right show no error; for accuracies, that with four more is the one of `stated`.
    """
    if isinstance(scores, Stated):
        return scores._replace(score=(scores.n * scores.score + 2 * sum(bounds)) / (scores.n + 2 * len(bounds)))
    values = values_of(scores)
    every = np.concatenate([values, np.repeat(bounds, 2)])
    error = float(every.std(ddof=0 if bounds else 1)) / math.sqrt(len(every)) if len(every) > 1 else math.inf
    return Stated(float(every.mean()), error, len(values))


def _asked(entries: Sequence[Mapping[Any, Scores | Stated]], languages: Sequence[Any]) -> dict[int, _Asked]:
    """Returns the scores by question of all entrants that have them."""
    with_questions: dict[int, list[Scores]] = {}
    for at, entry in enumerate(entries):
        of_languages = [scores for scores in (entry[code] for code in languages) if not isinstance(scores, Stated)]
        if len(of_languages) == len(languages):
            with_questions[at] = of_languages
    columns, n = places([scores for of in with_questions.values() for scores in of]) if with_questions else ([], 0)
    found, size = {}, len(languages)
    for row, (at, of_languages) in enumerate(with_questions.items()):
        found[at] = _Asked([values_of(scores) for scores in of_languages], columns[row * size : (row + 1) * size], n)
    return found


def _pair(found: Pairs, i: int, j: int, differences: Values, both: Values) -> None:
    """Fills in a pair that answered the same questions.

    Where both score alike on nearly all questions, the few that differ show too little of the variance. So each
    language gets two more, one each way, as large as those that differ (Bonett & Price 2012, "Adjusted Wald Confidence
    Interval for a Difference of Binomial Proportions Based on Paired Data", whose interval this is for accuracies).
    """
    counts = both.sum(axis=1)
    squares, differing = (differences**2).sum(axis=1), np.count_nonzero(differences, axis=1)
    means = differences.sum(axis=1) / (counts + 2)
    of_each = (squares * (1 + 2 / np.maximum(differing, 1)) / (counts + 2) - means**2) / (counts + 2)
    variance = float(of_each.mean())
    shared = mean_covariance(differences, both) if len(counts) > 1 else variance
    found.differences[i, j], found.differences[j, i] = means, -means
    found.shared[[i, j], [j, i]] = shared
    found.own[[i, j], [j, i]] = variance - shared
    found.questions[[i, j], [j, i]] = np.count_nonzero(both.any(axis=0))
