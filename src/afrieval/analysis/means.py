"""Means over languages with an interval that respects both documents and languages, and which share questions."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from afrieval._util.grouping import grouped
from afrieval.analysis.scores import ANSWERS, ByQuestion, alike_but_for, averaged, by_question, question_positions
from afrieval.analysis.uncertainty import LanguageScores, ScoreWithoutDocuments, TaskWeight, interval_of
from afrieval.analysis.unparsed import all_right, are_many, share
from afrieval.languages import LANGUAGES
from afrieval.results.cell_scores import CellScores
from afrieval.results.document_columns import Numbers
from afrieval.scoring.statistics.intervals import Interval, least_error

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
        cells: languages that are not African are left out, and so are those whose data is defective as a whole.
        groupings: some of `GROUPINGS`.
    """
    african = (c for c in cells if LANGUAGES[c.language].african and not c.defect)
    group_means = []
    for of_place in alike_but_for(african, "language", "prompt"):
        scores = of_languages(of_place)
        for grouping in groupings:
            of_name = grouped(scores, GROUPINGS[grouping])
            for name, members in of_name.items():
                group_means.append(_mean(of_place[0], grouping, name, {code: scores[code] for code in sorted(members)}))
    return group_means


def of_languages(cells: list[CellScores]) -> dict[str, ByQuestion]:
    """Returns each language's mean over prompts, by question and right answer."""
    languages = grouped(numbered(cells), lambda c: c.language)
    return {language: of_questions(languages[language]) for language in sorted(languages)}


def of_questions(cells: list[CellScores]) -> ByQuestion:
    """Returns the mean over prompts by question and right answer.

    Args:
        cells: of one language, `numbered` with all that they are compared with.
    """
    average = averaged(cells)
    scores = by_question(average.ids, average.cells[0].golds, average.values)
    # A few ratings that agree by chance have no variance, so the error has a lowest value.
    least = least_error(average.n_sure) if average.metric.interval == "student" else 0.0
    scores = replace(scores, looks=average.looks, sure=average.n_sure / max(1, len(average.ids)), least=least)
    if not are_many(average.cells):
        return scores
    right = by_question(average.ids, average.cells[0].golds, all_right(average).values)
    return replace(scores, unparsed=share(average.cells), right=right.scores)


def of_sides(sides: Sequence[Sequence[CellScores]]) -> list[dict[str, list[CellScores]]]:
    """Returns the cells of each side by language, `numbered` together."""
    numbers = [at for at, cells in enumerate(sides) for _ in cells]
    by_side: list[dict[str, list[CellScores]]] = [{} for _ in sides]
    for index, cell in zip(
        numbers, numbered([cell for cells in sides for cell in cells]) if numbers else [], strict=True
    ):
        by_side[index].setdefault(cell.language, []).append(cell)
    return by_side


def scaled(cells: list[CellScores], factor: float) -> LanguageScores:
    """Returns `of_questions` times a factor; only the mean, without an error, for metrics without intervals."""
    scores = of_questions(cells).times(factor)
    if cells[0].metric.interval == "none":
        return ScoreWithoutDocuments(scores.score, np.nan, len(scores), scores.looks)
    return scores


def _mean(cell: CellScores, grouping: str, name: str, members: dict[str, ByQuestion]) -> Mean:
    of_each = list(members.values())
    score = float(np.mean([scores.score for scores in of_each]))
    has_interval = len(members) > 1 and cell.metric.interval != "none"
    interval = over_languages(of_each, cell.metric.bounds) if has_interval else None
    columns, n = question_positions(of_each)
    times = np.bincount(np.concatenate(columns), minlength=n)
    alone = [code for code, of in zip(members, columns, strict=True) if (times[of] == 1).all()]
    differing = n - len(np.unique(np.concatenate([scores.codes for scores in of_each]) // ANSWERS))
    dimensions = cell.without_dimensions("language", "prompt")
    return Mean(cell.task, dimensions, grouping, name, list(members), score, interval, alone, differing)


def over_languages(languages: Sequence[ByQuestion], bounds: tuple[float, float] = (0.0, 1.0)) -> Interval | None:
    """Returns the 95 % interval of a mean over two languages or more of their means over documents."""
    return interval_of([TaskWeight(1.0, "", dict(enumerate(languages)))], bounds)


AGREE = 0.6  # of right answers, at least, if rows are translations; a guess among two agrees in half of them
Golds = tuple[Numbers, Numbers]


def numbered(cells: list[CellScores]) -> list[CellScores]:
    """Returns cells of one task whose ids are the same number where they ask the same question, in any language.

    Languages share questions if their task declares them parallel: those with the same key, or with the same row number
    if one of the cells has no keys. The data that ran may not be as declared, so the right answers have to agree: a
    language that differs from the others in more than four questions of ten shares none.
    """
    with_keys = [cell.keys for cell in cells if cell.keys is not None]
    named = with_keys if len(with_keys) == len(cells) else [cell.ids for cell in cells]
    questions, flat = np.unique(np.concatenate(named), return_inverse=True)
    rows = np.split(flat, np.cumsum([len(names) for names in named])[:-1])
    groups = _groups(cells)
    # Numbers of languages that are not parallel must not meet: each group has a range of its own, and each language
    # too, in case it turns out to differ from its group.
    offsets = {name: at * len(questions) for at, name in enumerate(dict.fromkeys([*groups.values(), *groups]))}
    golds = {
        cell.language: (row[cell.golds >= 0] + offsets[groups[cell.language]], cell.golds[cell.golds >= 0])
        for cell, row in zip(cells, rows, strict=True)
    }
    groups |= {language: language for language in _differing(golds)}
    renumbered = []
    for cell, row in zip(cells, rows, strict=True):
        ids = row + offsets[groups[cell.language]]
        if np.all(ids[1:] > ids[:-1]):
            renumbered.append(replace(cell, ids=ids))
        else:
            order = np.argsort(ids)
            renumbered.append(replace(cell.take(order), ids=ids[order]))
    return renumbered


def _groups(cells: list[CellScores]) -> dict[str, str]:
    """Returns each language's group, named after its members. Being parallel is transitive."""
    declared = {frozenset(group) for cell in cells for group in cell.declared.get("parallel", [])}
    groups = {}
    for language in dict.fromkeys(cell.language for cell in cells):
        members, size = {language}, 0
        while size < len(members):
            size = len(members)
            members = members.union(*(group for group in declared if group & members))
        groups[language] = " ".join(sorted(members))
    return groups


def _differing(golds: dict[str, Golds]) -> list[str]:
    """Returns the languages whose right answers differ from the others', the worst first."""
    outliers: list[str] = []
    while len(golds) > 1:
        agreement = _agreement(golds)
        worst = min(agreement, key=lambda language: agreement[language])
        if agreement[worst] >= AGREE:
            break
        outliers.append(worst)
        golds = {language: of for language, of in golds.items() if language != worst}
    return outliers


def _agreement(golds: dict[str, Golds]) -> dict[str, float]:
    """Returns how many right answers of other languages to its questions a language agrees with, as a share."""
    questions, flat = np.unique(np.concatenate([numbers for numbers, _ in golds.values()]), return_inverse=True)
    right_answers = np.concatenate([right for _, right in golds.values()])
    votes = np.zeros((len(questions), int(right_answers.max(initial=0)) + 1), dtype=np.int64)
    np.add.at(votes, (flat, right_answers), 1)
    shares = {}
    for language, (numbers, right) in golds.items():
        of_question = votes[np.searchsorted(questions, numbers)]
        others = int(of_question.sum()) - len(right)
        alike = int(of_question[np.arange(len(right)), right].sum()) - len(right)
        shares[language] = alike / others if others else 1.0
    return shares
