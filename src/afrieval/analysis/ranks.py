"""Ranks of models that say how sure they are: 1 to 3 for one that may be first, second or third.

Two entrants are told apart by the mean of their differences on the same questions, as sure as `widths` has it: both
languages and documents are drawn, and documents alone where there is one language. Over all pairs, Holm's correction
makes it unlikely, at 5 %, that a single pair is put in the wrong order or that a tie is broken. So all true ranks are
inside the ranks shown at once, in 95 % of cases (Mogstad, Romano, Shaikh & Wilhelm 2024, "Inference for Ranks with
Applications to Mobility across Neighbourhoods and Academic Achievement across Countries", Review of Economic Studies).
"""

import math
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, TypeVar

import numpy as np
from scipy import special

from afrieval.analysis.averages import percent
from afrieval.analysis.by_question import Scores
from afrieval.analysis.means import of_questions
from afrieval.analysis.pairs import PERCENT, Contest, Pairs, pairs
from afrieval.analysis.questions import numbered
from afrieval.analysis.widths import Stated, Values
from afrieval.grouping import grouped
from afrieval.results.scores import CellScores
from afrieval.statistics.significance import LEVEL, holm

K = TypeVar("K")
HALVINGS = 24  # p-values are then known to a share of 3e-6


class Rank(NamedTuple):
    """The best and the worst rank that an entrant may have."""

    first: int
    last: int


def ranked(sides: Mapping[K, Sequence[CellScores]]) -> dict[K, Rank | None]:
    """Returns the rank of each side in one task: in a language, or in the mean over several.

    Sides with the first rows of a test set, or the suite's own rows, have none, and are not counted.

    Args:
        sides: cells of one task and metric, of the languages that all sides have.
    """
    found: dict[K, Rank | None] = dict.fromkeys(sides)
    concluding = {side: cells for side, cells in sides.items() if all(cell.concludes for cell in cells)}
    if len(concluding) > 1:
        found |= zip(concluding, ranks([contest(list(concluding.values()))]), strict=True)
    return found


def best_first(order: Sequence[K], rank_of: Callable[[K], Rank | None]) -> list[K]:
    """Returns sides in their order, but the first one that may be the best comes first.

    The highest score is not always among the best: it may be of fewer and easier documents, while ranks are from the
    documents that two sides share.

    Args:
        order: sides by their scores, the best first.
        rank_of: returns the rank of a side.
    """
    first = rank_of(order[0]) if order else None
    if first is None or first.first == 1:
        return list(order)
    lead = next((at for at, side in enumerate(order) if (rank := rank_of(side)) and rank.first == 1), 0)
    return [order[lead], *order[:lead], *order[lead + 1 :]]


def contest(sides: Sequence[Sequence[CellScores]], weight: float = 1.0) -> Contest:
    """Returns the scores of sides in one task, averaged over prompts, by language and question.

    Args:
        sides: each side's cells, all with the same metric, of the languages that all sides have.
        weight: of the task in an average.
    """
    every = [(at, cell) for at, cells in enumerate(sides) for cell in cells]
    metric = every[0][1].metric
    factor = percent(metric) or (1.0 if metric.higher_is_better else -1.0)
    numbers = numbered([cell for _, cell in every])
    of_sides: list[dict[str, Scores | Stated]] = [{} for _ in sides]
    of_each = grouped(zip((at for at, _ in every), numbers, strict=True), lambda pair: (pair[0], pair[1].language))
    for (at, language), found in of_each.items():
        scores = of_questions([cell for _, cell in found]).times(factor)
        mean = float(np.mean(scores.scores))
        of_sides[at][language] = Stated(mean, math.nan, 0) if metric.interval == "none" else scores
    return Contest(weight, every[0][1].data_set or every[0][1].task, of_sides, PERCENT if percent(metric) else ())


def ranks(contests: Sequence[Contest]) -> list[Rank | None]:
    """Returns the rank of each entrant in the weighted mean over tasks of the means over languages.

    It is 1 and the number of entrants that are significantly better, to the number of all less those significantly
    worse. None for entrants with a score whose error is not known; they are not counted.

    Args:
        contests: the tasks, in each of which the entrants are the same and in the same order.
    """
    entries = range(len(contests[0].entries))
    known = [at for at in entries if all(_is_known(each.entries[at]) for each in contests)]
    found: list[Rank | None] = [None for _ in entries]
    if known:
        means, p_values = compared([each._replace(entries=[each.entries[at] for at in known]) for each in contests])
        better = (_adjusted(p_values) < LEVEL) & (means > 0)
        for at, ahead, behind in zip(known, better.sum(axis=0), better.sum(axis=1), strict=True):
            found[at] = Rank(1 + int(ahead), len(known) - int(behind))
    return found


def _is_known(entry: Mapping[str, Scores | Stated]) -> bool:
    return not any(isinstance(scores, Stated) and math.isnan(scores.error) for scores in entry.values())


def _adjusted(p_values: Values) -> Values:
    """Returns p-values after Holm over all pairs."""
    above = np.triu_indices(len(p_values), 1)
    found = np.ones_like(p_values)
    found[above] = holm(p_values[above].tolist())
    return np.minimum(found, found.T)


def compared(contests: Sequence[Contest]) -> tuple[Values, Values]:
    """Returns the mean differences of all pairs, first less second, and their p-values, both of shape (k, k).

    A p-value is the level at which the interval of `widths.half_width` just reaches 0.

    Args:
        contests: tasks, whose entrants have known errors.
    """
    parts = [pairs(each) for each in contests]
    means = sum(each.weight * part.differences.mean(axis=2) for each, part in zip(contests, parts, strict=True))
    languages, effective = _of_languages(contests, parts)
    errors: dict[str, Values] = defaultdict(lambda: np.zeros_like(means))
    questions: dict[str, Values] = {}
    own = np.zeros_like(means)
    for each, part in zip(contests, parts, strict=True):
        errors[each.data] = errors[each.data] + each.weight * np.sqrt(part.shared)
        questions[each.data] = np.maximum(questions.get(each.data, 0.0), part.questions)
        own += each.weight**2 * part.own / part.differences.shape[2]
    documents = np.sum([error**2 for error in errors.values()], axis=0)
    return means, _p_values(means, languages, effective, own, documents, np.sum(list(questions.values()), axis=0))


def _of_languages(contests: Sequence[Contest], parts: Sequence[Pairs]) -> tuple[Values, float]:
    """Returns the variance of the mean differences over languages, and the effective number of these."""
    added: dict[str, Values] = {}
    weights: dict[str, float] = defaultdict(float)
    for each, part in zip(contests, parts, strict=True):
        k = part.differences.shape[2]
        deviations = part.differences - part.differences.mean(axis=2, keepdims=True)
        for at, language in enumerate(each.entries[0] if k > 1 else ()):
            share = each.weight * math.sqrt(k / (k - 1)) * deviations[:, :, at] / k
            added[language] = added.get(language, 0.0) + share
            weights[language] += each.weight / k
    variance = np.sum([each**2 for each in added.values()], axis=0) if added else np.zeros(parts[0].shared.shape)
    effective = sum(weights.values()) ** 2 / sum(w**2 for w in weights.values()) if weights else 2.0
    return variance, effective


def _p_values(
    means: Values, languages: Values, effective: float, own: Values, documents: Values, questions: Values
) -> Values:
    """Returns the levels at which the intervals just reach 0; with two kinds of t, by bisection on logarithms."""
    above = np.triu_indices(len(means), 1)
    parts = (each[above] for each in (means**2, languages, own, documents, np.maximum(questions - 1, 1)))
    squares, of_languages, of_own, of_documents, df = parts
    if of_languages.any():
        levels = _bisected(squares, of_languages, max(effective - 1, 1), of_own, of_documents, df)
    else:
        with np.errstate(divide="ignore", invalid="ignore"):
            levels = 2 * special.stdtr(df, -np.sqrt(squares / (np.maximum(of_own, 0) + of_documents)))
    found = np.ones_like(means)
    found[above] = np.where(squares == 0, 1.0, levels)
    return np.minimum(found, found.T)


def _bisected(
    squares: Values, of_languages: Values, effective: float, of_own: Values, of_documents: Values, df: Values
) -> Values:
    low, high = np.full(squares.shape, -40.0), np.zeros(squares.shape)
    for _ in range(HALVINGS):
        level = np.exp((low + high) / 2)
        t_questions = special.stdtrit(df, level / 2) ** 2
        t_languages = special.stdtrit(effective, level / 2) ** 2
        width = np.maximum(t_languages * of_languages, t_questions * of_own) + t_questions * of_documents
        inside = width >= squares
        low, high = np.where(inside, (low + high) / 2, low), np.where(inside, high, (low + high) / 2)
    return np.exp(high)
