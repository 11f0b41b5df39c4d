"""Scores of all models by language, as a table per task or as one of all tasks."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from afrieval._util.grouping import grouped
from afrieval.analysis.scores import LanguageScore, by_language
from afrieval.languages import LANGUAGES
from afrieval.report.columns import Column
from afrieval.report.score_tables import named, unranked_notes, unreviewed_signs, varying
from afrieval.report.table import Table
from afrieval.report.values import titled
from afrieval.results.cell_scores import CellScores
from afrieval.scoring.base import Metric

N_NAMES = 2  # columns of names
HEAD = ("model", "shots", "answer_form", "prompt_set", "prompt_language")  # the parts of a head, in order


class _Side(NamedTuple):
    """A column of numbers: a task, a model and its prompts."""

    task: str
    metric: Metric
    dimensions: dict[str, Any]
    scores: dict[str, LanguageScore]


def heat_tables(cells: Sequence[CellScores]) -> list[Table]:
    """Returns scores by language: for several models a table per task, for one model a table of all tasks.

    With one language, or with one task and model, it returns none: other tables have the same numbers.
    """
    by_side = grouped(
        (c for c in cells if c.n), lambda c: (c.task, *c.without_dimensions("language", "prompt").items())
    )
    sides = []
    for of_side in by_side.values():
        first, scores = of_side[0], {score.language: score for score in by_language(of_side)}
        sides.append(_Side(first.task, first.metric, first.without_dimensions("language", "prompt"), scores))
    of_tasks = grouped(sides, lambda side: side.task)
    models = {side.dimensions["model"] for side in sides}
    if len(models) < 2 and len(of_tasks) < 2:
        return []
    tables = [_table(of) for of in (of_tasks.values() if len(models) > 1 else [sides])]
    return [table for table in tables if len(table.rows) > 1]


def _table(sides: list[_Side]) -> Table:
    tasks = {side.task: side.metric for side in sides}
    codes = {code for side in sides for code in side.scores}
    languages = sorted(codes, key=lambda code: (LANGUAGES[code].family, LANGUAGES[code].name))
    varied = sorted({*varying([side.dimensions for side in sides])} - {"language"}, key=HEAD.index)
    columns = [Column("family"), Column("language", "language")]
    rows: list[list[Any]] = [[LANGUAGES[code].family, code] for code in languages]
    for side in sides:
        head = [
            *([titled(side.task, side.metric)] if len(tasks) > 1 else []),
            *(named(side.dimensions, name) for name in varied),
        ]
        columns.append(Column(" ".join(head), "score", "", side.metric.bounds))
        for code, row in zip(languages, rows, strict=True):
            row.append(side.scores[code].score if code in side.scores else None)
    title = "Scores by language" if len(tasks) > 1 else f"{titled(*next(iter(tasks.items())))}: scores by language"
    unreviewed = {code: score.unreviewed for side in sides for code, score in side.scores.items() if score.unreviewed}
    about = {} if len(tasks) > 1 else {"task": sides[0].task}
    defective = [(side.task, score) for side in sides for score in side.scores.values() if score.defect]
    lines = [f"Known defect of {task} {LANGUAGES[score.language].name}: {score.defect}." for task, score in defective]
    notes, signs = [*dict.fromkeys(lines), *unranked_notes(tasks.values())], unreviewed_signs(unreviewed.values())
    marks = dict.fromkeys(unreviewed, "*")
    return Table("heat", title, columns, rows, notes, [], about, signs, marks, shades=_shades(rows, sides))


def _shades(rows: list[list[Any]], sides: list[_Side]) -> dict[tuple[int, int], float]:
    """Returns how high each score is between the lowest and the highest of its task; none of unranked metrics."""
    task_columns = grouped((at for at, side in enumerate(sides) if side.metric.ranked), lambda index: sides[index].task)
    shades: dict[tuple[int, int], float] = {}
    for columns in task_columns.values():
        cells = {(row, at + N_NAMES): of[at + N_NAMES] for row, of in enumerate(rows) for at in columns}
        scores = {place: score for place, score in cells.items() if score is not None}
        low, high = min(scores.values()), max(scores.values())
        if low < high:
            shades |= {place: (score - low) / (high - low) for place, score in scores.items()}
    return shades
