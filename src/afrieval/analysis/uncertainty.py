"""How sure a mean is that is taken over documents, languages and tasks.

Languages and documents are both drawn, as in sampling in two stages (Cochran 1977, "Sampling Techniques", chapter
10). For one task whose k languages have means m, whatever questions they share, the mean's variance is exactly
E[var(m)] / k + C, where var(m) is the sample variance of the means and C the mean covariance of two of them.
`shared_variance` estimates C, as for clusters that cross (Cameron, Gelbach & Miller 2011, "Robust Inference With
Multiway Clustering"; Miller 2024, "Adding Error Bars to Evals", has it for one model's clusters).

Over several tasks, a language that is high in one tends to be high in others. So the first part is over languages,
each with what it adds in all tasks together; for one task, it is var(m) / k. The documents of different data sets are
independent, and the variances C of the tasks add up; the errors of tasks on the same data set are taken to be fully
correlated. A task in one language says nothing about others: only its documents count.

The two parts are as sure as there are languages and questions, so each gets its own Student's t before they are added
as squares (Zou & Donner 2008, "Construction of confidence limits about effect measures"). Languages of unequal weight
count as Kish's effective number (1965, "Survey Sampling", section 11.7). Means that happen to be close are no
certainty: the first part is at least what the questions of each language alone give. Other ways were tried in the
simulations of docs/statistics.md: one t for all covered up to 100 %, Satterthwaite's degrees of freedom down to 92 %.
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import special

from afrieval.analysis.scores import ByQuestion, question_positions
from afrieval.scoring.statistics.intervals import LEVEL, Interval, normal_quantile, wilson

Values = NDArray[np.float64]


class ScoreWithoutDocuments(NamedTuple):
    """A score of a language without its documents, as published ones are.

    Attributes:
        score: higher is better.
        error: its standard error; NaN if it is not known.
        looks: as in `CellScores`.
    """

    score: float
    error: float
    n: int
    looks: int = 1

    @property
    def is_known(self) -> bool:
        """Whether its error is."""
        return not math.isnan(self.error)

    @property
    def if_right(self) -> "ScoreWithoutDocuments":
        """As it is: nothing is known of unparsed answers."""
        return self


LanguageScores = ByQuestion | ScoreWithoutDocuments


class TaskWeight(NamedTuple):
    """A task's share in a mean.

    Attributes:
        weight: of the task; all weights add up to 1.
        data: the data set; tasks on the same one share documents.
        languages: each language's scores by question, or all without them; in the task, all languages have the same
            weight.
    """

    weight: float
    data: str
    languages: Mapping[Any, LanguageScores]

    @property
    def score(self) -> float:
        """The mean over languages."""
        return float(np.mean([of.score for of in self.languages.values()]))


def weighted_mean(shares: Iterable[TaskWeight]) -> float:
    """Returns the weighted mean over tasks of their means over languages."""
    return sum(share.weight * share.score for share in shares)


class Variances(NamedTuple):
    """How the mean of a task varies, or the differences of several means, as arrays.

    Attributes:
        weight, data: as in `TaskWeight`.
        deviations: of its languages from the mean; empty if it is over one.
        shared: variance of what all languages have in common.
        per_language: what the documents of each language add to it.
    """

    weight: float
    data: str
    deviations: Mapping[Any, Any]
    shared: Any
    per_language: Any


def over_tasks(tasks: Sequence[Variances]) -> tuple[Any, float, Any, Any]:
    """Returns how a mean over tasks varies over languages, their effective number, and how over the documents of each.

    The last part is what documents that all languages have in common add.
    """
    added, errors = defaultdict[Any, Any](float), defaultdict[str, Any](float)
    weights, per_language = defaultdict[Any, float](float), 0.0
    for weight, data, deviations, shared, of_each in tasks:
        k = len(deviations) or 1
        for language, deviation in deviations.items():
            # A language that is high in one task tends to be so in others: what it adds is summed over tasks first.
            added[language] = added[language] + weight * math.sqrt(k / (k - 1)) * deviation / k
            weights[language] += weight / k
        # Tasks on the same data set share documents: their errors are added as they are, not as squares.
        errors[data] = errors[data] + weight * np.sqrt(shared)
        per_language = per_language + weight**2 * of_each / k
    effective = sum(weights.values()) ** 2 / sum(w**2 for w in weights.values()) if weights else 2.0
    languages, documents = (sum(each**2 for each in of.values()) for of in (added, errors))
    return languages, effective, per_language, documents


def half_width(shares: Sequence[TaskWeight], times: float = 1.0, drawn: bool = True) -> float:
    """Returns half the width of the 95 % interval of a weighted mean over tasks of their means over languages.

    If the sample grew while it was looked at, the interval holds at all looks together (Bonferroni).

    Args:
        shares: the tasks.
        times: how many times as many questions there are to be in each language; the languages differ as much as they
            do, beyond what their questions explain.
        drawn: whether the mean stands for other languages too. If not, it is about these, and only other questions
            could have been asked.
    """
    of_languages, effective, per_language, of_documents = over_tasks(list(map(_variances, shares)))
    # More questions shrink only what questions explain of how much languages differ.
    of_languages = (
        of_languages - per_language + per_language / times if of_languages > per_language else of_languages / times
    )
    per_language, of_documents, questions = per_language / times, of_documents / times, _questions(shares) * times
    tail = 1 - LEVEL / looks_of(shares) / 2
    t_languages, t_questions = (float(special.stdtrit(max(n - 1, 1), tail)) ** 2 for n in (effective, questions))
    of_languages = t_languages * of_languages if drawn else 0.0
    # Means of languages that happen to be close are no certainty: what their questions give is the least.
    return math.sqrt(max(of_languages, t_questions * per_language) + t_questions * of_documents)


def looks_of(shares: Iterable[TaskWeight]) -> int:
    """Returns how many times the scores were to be looked at while their samples grew."""
    return max((of.looks for share in shares for of in share.languages.values()), default=1)


def interval_of(
    shares: Sequence[TaskWeight], bounds: tuple[float, float] = (0.0, 100.0), drawn: bool = True
) -> Interval | None:
    """Returns the 95 % interval of a weighted mean over tasks of their means over languages.

    Args:
        shares: the tasks, whose errors are known.
        bounds: lowest and highest score; infinity if there is none.
        drawn: as in `half_width`.

    Returns:
        None if all documents score alike, and scores have no bounds.
    """
    mean, half, bounded = weighted_mean(shares), half_width(shares, drawn=drawn), all(map(math.isfinite, bounds))
    if bounded:
        half = math.hypot(half, *(share.weight * _unseen(share, bounds) for share in shares))
    return Interval(max(bounds[0], mean - half), min(bounds[1], mean + half)) if half or bounded else None


def _unseen(share: TaskWeight, bounds: tuple[float, float]) -> float:
    """Returns half the width of the interval of a task whose documents all score alike; else 0.

    It is Wilson's, for as many documents as say how sure one language is, since languages may share them.
    """
    documents = [scores for scores in share.languages.values() if not isinstance(scores, ScoreWithoutDocuments)]
    values = np.unique(np.concatenate([scores.scores for scores in documents])) if documents else np.zeros(0)
    if len(values) != 1:
        return 0.0
    n, (low, high) = min(round(len(of) * of.sure) for of in documents), bounds
    score = (float(values[0]) - low) / (high - low)
    interval = wilson(score * n, n, normal_quantile(LEVEL / looks_of([share])))
    return (high - low) * max(interval.high - score, score - interval.low)


def _questions(shares: Sequence[TaskWeight]) -> int:
    """Returns how many questions say how sure a mean is; without documents, as if all languages had the same ones."""
    pairs = [(share.data, scores) for share in shares for scores in share.languages.values()]
    by_data: dict[str, list[ByQuestion]] = {}
    for data, scores in pairs:
        if not isinstance(scores, ScoreWithoutDocuments):
            by_data.setdefault(data, []).append(scores)
    distinct = sum(
        round(question_positions(languages)[1] * min(scores.sure for scores in languages))
        for languages in by_data.values()
    )
    counts = [(data, scores.n) for data, scores in pairs if isinstance(scores, ScoreWithoutDocuments)]
    return distinct + sum(min(n for of, n in counts if of == data) for data in {data for data, _ in counts})


def _variances(share: TaskWeight) -> Variances:
    """Returns how a task's mean varies; without documents, the errors in all languages are taken to be the same."""
    weight, data, languages = share
    documents = {code: scores for code, scores in languages.items() if not isinstance(scores, ScoreWithoutDocuments)}
    if len(documents) < len(languages):
        stated = [scores for scores in languages.values() if isinstance(scores, ScoreWithoutDocuments)]
        mean, error = (float(np.mean([one[at] for one in stated])) for at in range(2))
        several = len(stated) > 1
        deviations = {code: of.score - mean for code, of in zip(languages, stated, strict=True)} if several else {}
        return Variances(weight, data, deviations, error**2, 0.0)
    values = [scores.scores for scores in documents.values()]
    errors = [v.var(ddof=1) / len(v) if len(v) > 1 else 0.0 for v in values]
    least = [scores.least**2 for scores in documents.values()]
    of_each = float(np.mean(np.maximum(errors, least)))
    if len(values) == 1:
        return Variances(weight, data, {}, of_each, 0.0)
    means = np.array([v.mean() for v in values])
    shared = shared_variance(list(documents.values()))
    deviations = dict(zip(languages, (means - means.mean()).tolist(), strict=True))
    return Variances(weight, data, deviations, shared, of_each - shared)


def shared_variance(languages: Sequence[ByQuestion]) -> float:
    """Returns what all languages' means have in common: the mean covariance of two of them, at least 0.

    Two languages' means covary as their scores do on the questions that both have, and the less, the fewer these are.
    """
    columns, n = question_positions(languages)
    scores, present = np.zeros((2, len(languages), n))
    for row, of_language in enumerate(languages):
        scores[row, columns[row]], present[row, columns[row]] = of_language.scores, 1.0
    return mean_covariance(scores, present)


def mean_covariance(scores: Values, present: Values) -> float:
    """Computes `shared_variance` from arrays.

    Args:
        scores: of two languages or more, shape (k, n); 0 where a language lacks the question.
        present: 1 where it has the question, else 0, shape (k, n).
    """
    both = present @ present.T  # how many questions two languages share
    sums = scores @ present.T  # the first one's scores on these
    products = scores @ scores.T - sums * sums.T / np.maximum(both, 1)
    covariances = np.where(both > 1, products / np.maximum(both - 1, 1), 0.0)
    counts = np.diag(both)
    of_means = covariances * both / np.outer(counts, counts)
    np.fill_diagonal(of_means, 0.0)
    k = len(scores)
    return max(0.0, float(of_means.sum()) / (k * (k - 1)))
