"""Rank ranges, such as 1-3 for a model that may be first, second or third, from differences of pairs."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np
from scipy import special

from afrieval.analysis.means import of_sides, scaled
from afrieval.analysis.scores import ByQuestion, question_positions
from afrieval.analysis.suites import factor_of, percent
from afrieval.analysis.uncertainty import (
    LanguageScores,
    ScoreWithoutDocuments,
    TaskWeight,
    Values,
    Variances,
    mean_covariance,
    over_tasks,
)
from afrieval.results.cell_scores import CellScores
from afrieval.scoring.statistics.intervals import LEVEL
from afrieval.scoring.statistics.tests import holm, significant

PERCENT = (0.0, 100.0)


class Contest(NamedTuple):
    """A task in which models are compared.

    Attributes:
        weight: in the average over tasks.
        data: the data set; tasks on the same one share documents.
        entries: of each model, its scores by language, all of the same languages; higher is better.
        bounds: the lowest and the highest score that there are; empty if scores are not in percent.
    """

    weight: float
    data: str
    entries: Sequence[Mapping[Any, LanguageScores]]
    bounds: tuple[float, ...] = ()

    def share(self, index: int) -> TaskWeight:
        """Returns the share of the task in the mean of a model."""
        return TaskWeight(self.weight, self.data, self.entries[index])


def pairs(contest: Contest) -> tuple[Values, Variances, Values]:
    """Returns the differences of all k models in one task, first less second, how they vary, and the questions of both.

    Differences have the shape (k, k, number of languages); variances and numbers of questions (k, k).
    """
    languages = list(contest.entries[0])
    stated = [[_stated(entry[code], contest.bounds) for code in languages] for entry in contest.entries]
    scores, errors, counts = (np.array([[s[at] for s in row] for row in stated]) for at in range(3))
    error, least = errors.mean(axis=1), counts.min(axis=1)
    # Models without a question in common keep what their errors alone say.
    differences, shared = scores[:, None] - scores[None], np.add.outer(error**2, error**2)
    per_language, questions = np.zeros_like(shared), np.minimum.outer(least, least).astype(np.float64)
    by_question: dict[int, list[ByQuestion]] = {}
    for index, entry in enumerate(contest.entries):
        of_model = [of for of in (entry[code] for code in languages) if isinstance(of, ByQuestion)]
        by_question |= {index: of_model} if len(of_model) == len(languages) else {}
    flat = [of for of_model in by_question.values() for of in of_model]
    columns, n = question_positions(flat) if flat else ([], 0)
    columns_of = {id(of): of_language for of, of_language in zip(flat, columns, strict=True)}

    def arrays(index: int) -> tuple[Values, Values]:
        """Returns scores, shape (l, n), and where there is one; those of all models do not fit into memory."""
        values, present = np.zeros((2, len(languages), n))
        for row, in_language in enumerate(by_question[index]):
            positions = columns_of[id(in_language)]
            values[row, positions], present[row, positions] = in_language.scores, 1.0
        return values, present

    for i in by_question:
        of_first, present = arrays(i)
        for j in (j for j in by_question if j > i):
            of_second, other_present = arrays(j)
            both = present * other_present
            if both.any(axis=1).all():
                sure = min(scores.sure for scores in (*by_question[i], *by_question[j]))
                means, of_both, of_each = _paired((of_first - of_second) * both, both, contest.bounds, sure)
                differences[i, j], differences[j, i] = means, -means
                shared[[i, j], [j, i]], per_language[[i, j], [j, i]] = of_both, of_each - of_both
                questions[[i, j], [j, i]] = sure * np.count_nonzero(both.any(axis=0))
    middle = differences.mean(axis=2)
    deviations = {code: differences[:, :, at] - middle for at, code in enumerate(languages) if len(languages) > 1}
    return differences, Variances(contest.weight, contest.data, deviations, shared, per_language), questions


def stated(score: float, n: int) -> ScoreWithoutDocuments:
    """Returns a published accuracy with its standard error, never 0: as if two more documents were right and two wrong.

    Agresti & Coull 1998, "Approximate Is Better than Exact for Interval Estimation of Binomial Proportions".
    """
    p = (n * score + 2) / (n + 4)
    return ScoreWithoutDocuments(score, math.sqrt(p * (1 - p) / (n + 4)), n)


def _stated(scores: LanguageScores, bounds: tuple[float, ...]) -> ScoreWithoutDocuments:
    """Returns a score as if its documents were not known, and with four more, two of the lowest and two of the highest.

    A few documents that are all right show no error; for accuracies, that with four more is the one of `stated`.
    """
    if isinstance(scores, ScoreWithoutDocuments):
        return scores._replace(score=(scores.n * scores.score + 2 * sum(bounds)) / (scores.n + 2 * len(bounds)))
    values = scores.scores
    with_added = np.concatenate([values, np.repeat(bounds, 2)])
    error = (
        float(with_added.std(ddof=0 if bounds else 1)) / math.sqrt(len(with_added)) if len(with_added) > 1 else math.inf
    )
    return ScoreWithoutDocuments(float(with_added.mean()), max(error, scores.least), round(len(values) * scores.sure))


def _paired(differences: Values, both: Values, bounds: tuple[float, ...], sure: float) -> tuple[Values, float, float]:
    """Returns the mean differences of a pair with common questions, the variance of what languages share, and of each.

    Where both score alike on nearly all questions, the few that differ show too little of the variance. So each
    language gets two more, one each way, as large as those that differ (Bonett & Price 2012, "Adjusted Wald Confidence
    Interval for a Difference of Binomial Proportions Based on Paired Data", whose interval this is for accuracies).
    Where none differ, they are as large as scores allow: a few equal answers do not show that models are equal. If few
    questions say how sure scores are, the error is at least that of `paired.of_student`.
    """
    counts = both.sum(axis=1)
    squares, differing = (differences**2).sum(axis=1), np.count_nonzero(differences, axis=1)
    means = differences.sum(axis=1) / (counts + 2)
    largest = (bounds[1] - bounds[0]) ** 2 if bounds else 0.0
    added = np.where(differing > 0, squares / np.maximum(differing, 1), largest)
    of_each = ((squares + 2 * added) / (counts + 2) - means**2) / (counts + 2)
    if sure < 1:
        few = np.maximum(sure * counts, 2)
        of_each = np.maximum(of_each, largest / (few * (few - 1)))
    variance = float(of_each.mean())
    return means, mean_covariance(differences, both) if len(counts) > 1 else variance, variance


K = TypeVar("K")
HALVINGS = 24  # p-values are then known to a share of 3e-6


class Rank(NamedTuple):
    """The best and the worst rank that a model may have."""

    first: int
    last: int

    def narrowed(self, later: "Rank") -> "Rank":
        """Returns what two ranks have in common, since both hold; the later one if they exclude each other."""
        first, last = max(self.first, later.first), min(self.last, later.last)
        return Rank(first, last) if first <= last else later


def ranked(sides: Mapping[K, Sequence[CellScores]]) -> dict[K, Rank | None]:
    """Returns the rank of each side in one task: in a language, or in the mean over several.

    Sides with the first rows of a test set, or the suite's own rows, have none, and are not counted.

    Args:
        sides: cells of one task and metric, of the languages that all sides have.
    """
    side_ranks: dict[K, Rank | None] = dict.fromkeys(sides)
    concluding = {side: cells for side, cells in sides.items() if all(cell.concludes for cell in cells)}
    if len(concluding) > 1:
        side_ranks |= zip(concluding, ranks([contest(list(concluding.values()))]), strict=True)
    return side_ranks


def best_first(order: Sequence[K], rank_of: Callable[[K], Rank | None]) -> list[K]:
    """Returns sides in their order, but the first one that may be the best comes first.

    The highest score is not always among the best: it may be of fewer and easier documents, while ranks are from the
    documents that two sides share.
    """
    first = rank_of(order[0]) if order else None
    if first is None or first.first == 1:
        return list(order)
    lead = next((at for at, side in enumerate(order) if (rank := rank_of(side)) and rank.first == 1), 0)
    return [order[lead], *order[:lead], *order[lead + 1 :]]


def contest(sides: Sequence[Sequence[CellScores]], weight: float = 1.0) -> Contest:
    """Returns the scores of sides in one task, averaged over prompts, by language and question."""
    first = sides[0][0]
    factor = factor_of(first.metric)
    scores = [{code: scaled(of, factor) for code, of in languages.items()} for languages in of_sides(sides)]
    return Contest(weight, first.data_set or first.task, scores, PERCENT if percent(first.metric) else ())


def ranks(contests: Sequence[Contest], drawn: bool = True) -> list[Rank | None]:
    """Returns the rank of each model in the weighted mean over tasks of the means over languages.

    It is 1 and the number of models that are significantly better, to the number of all less those significantly
    worse. None for models with a score whose error is not known; they are not counted. `drawn` is as in `half_width`.
    """
    entries = range(len(contests[0].entries))
    with_errors = [at for at in entries if all(of.is_known for each in contests for of in each.entries[at].values())]
    rank_ranges: list[Rank | None] = [None for _ in entries]
    if with_errors:
        of_known = [each._replace(entries=[each.entries[at] for at in with_errors]) for each in contests]
        means, p_values = in_any_case(of_known, drawn)
        above, adjusted = np.triu_indices(len(with_errors), 1), np.ones_like(p_values)
        adjusted[above] = holm(p_values[above].tolist())  # over all pairs
        better = significant(np.minimum(adjusted, adjusted.T)) & (means > 0)
        for index, ahead, behind in zip(with_errors, better.sum(axis=0), better.sum(axis=1), strict=True):
            rank_ranges[index] = Rank(1 + int(ahead), len(with_errors) - int(behind))
    return rank_ranges


def in_any_case(contests: Sequence[Contest], drawn: bool) -> tuple[Values, Values]:
    """Returns what `compared` does, with p-values that hold if all unparsed answers are wrong, and if they are right.

    A model is ahead of another one only if it is so if its own are wrong and all of the other's are right. If some are
    right, the means are between these, but differences may vary more over languages, and p-values be higher.
    """
    k = len(contests[0].entries)
    means, p_values = compared(with_right(contests), drawn)  # of 2k rows if some are unparsed; the last k are right
    ahead = np.where(means[:k, -k:] > 0, p_values[:k, -k:], 1.0)
    ahead[np.diag_indices(k)] = 1.0
    highest_p = np.maximum(p_values[:k, :k], np.where(means[:k, :k] > 0, ahead, ahead.T))
    return means[:k, :k], highest_p


def with_right(contests: Sequence[Contest]) -> list[Contest]:
    """Returns contests that have each model once more, with unparsed answers right; as they are if few are."""
    if not any(of.if_right is not of for each in contests for entry in each.entries for of in entry.values()):
        return list(contests)
    return [
        each._replace(entries=[*each.entries, *({code: of.if_right for code, of in e.items()} for e in each.entries)])
        for each in contests
    ]


def compared(contests: Sequence[Contest], drawn: bool = True, margin: float = 0.0) -> tuple[Values, Values]:
    """Returns the mean differences of all pairs, first less second, and their p-values, both of shape (k, k).

    A p-value is the level at which the interval of `uncertainty.half_width` just reaches 0; with a margin, at which it
    just reaches the margin on the side of the difference. If samples grew while they were looked at, it is for all
    looks together.

    Args:
        contests: the tasks.
        drawn: as in `half_width`.
        margin: of the mean difference.
    """
    means, errors = _errors(contests, drawn)
    p_values = _p_values(np.abs(means) - margin, *errors)
    return means, np.asarray(np.minimum(1.0, p_values * _looks(contests)))


def half_widths(contests: Sequence[Contest]) -> tuple[Values, Values]:
    """Returns half the width of the 95 % interval of each mean difference of `compared`, and its standard error."""
    _, (languages, effective, per_language, documents, questions) = _errors(contests, drawn=True)
    tail, per_language = LEVEL / _looks(contests) / 2, np.maximum(per_language, 0)
    t_questions = special.stdtrit(np.maximum(questions - 1, 1), tail) ** 2
    t_languages = special.stdtrit(max(effective - 1, 1), tail) ** 2
    half = np.sqrt(np.maximum(t_languages * languages, t_questions * per_language) + t_questions * documents)
    return half, np.sqrt(np.maximum(languages, per_language) + documents)


def _errors(contests: Sequence[Contest], drawn: bool) -> tuple[Values, tuple[Values, float, Values, Values, Values]]:
    """Returns the mean differences of all pairs, and what `_p_values` takes of how sure they are."""
    parts = [pairs(each) for each in contests]
    means = sum(each.weight * differences.mean(axis=2) for each, (differences, *_) in zip(contests, parts, strict=True))
    languages, effective, per_language, documents = over_tasks([variances for _, variances, _ in parts])
    questions: dict[str, Values] = {}
    for each, (*_, of_both) in zip(contests, parts, strict=True):
        questions[each.data] = np.maximum(questions.get(each.data, 0.0), of_both)
    languages = np.zeros_like(means) + (languages if drawn else 0.0)
    return means, (languages, effective, per_language, documents, np.sum(list(questions.values()), axis=0))


def _looks(contests: Sequence[Contest]) -> Values:
    """Returns how many looks there are to be at each pair, shape (k, k)."""
    entries = zip(*(each.entries for each in contests), strict=True)
    looks = np.array([[max(of.looks for entry in of_model for of in entry.values())] for of_model in entries])
    return np.asarray(np.maximum(looks, looks.T), dtype=np.float64)


def _p_values(
    means: Values, languages: Values, effective: float, per_language: Values, documents: Values, questions: Values
) -> Values:
    """Returns the levels at which the intervals just reach 0; with two kinds of t, by bisection on logarithms."""
    above = np.triu_indices(len(means), 1)
    parts = (each[above] for each in (means**2, languages, per_language, documents, np.maximum(questions - 1, 1)))
    squares, of_languages, of_own, of_documents, df = parts
    if not of_languages.any():
        with np.errstate(divide="ignore", invalid="ignore"):
            levels = 2 * special.stdtr(df, -np.sqrt(squares / (np.maximum(of_own, 0) + of_documents)))
    else:
        # The two kinds of t depend on the level, so there is no closed form.
        low, high = np.full(squares.shape, -40.0), np.zeros(squares.shape)
        for _ in range(HALVINGS):
            level = np.exp((low + high) / 2)
            t_questions = special.stdtrit(df, level / 2) ** 2
            t_languages = special.stdtrit(max(effective - 1, 1), level / 2) ** 2
            width = np.maximum(t_languages * of_languages, t_questions * of_own) + t_questions * of_documents
            inside = width >= squares
            low, high = np.where(inside, (low + high) / 2, low), np.where(inside, high, (low + high) / 2)
        levels = np.exp(high)
    matrix = np.ones_like(means)
    matrix[above] = np.where(squares == 0, 1.0, levels)
    return np.minimum(matrix, matrix.T)
