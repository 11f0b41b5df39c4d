"""Scores of all models by language, as a table per task or as one of all tasks."""

from collections.abc import Sequence
from typing import Any

from afrieval._util.grouping import grouped
from afrieval.analysis.scores import by_language
from afrieval.languages import LANGUAGES
from afrieval.report.columns import Column
from afrieval.report.score_tables import named, unranked_notes, unreviewed_signs, varying
from afrieval.report.table import Table
from afrieval.report.values import titled
from afrieval.results.cell_scores import CellScores

N_NAMES = 2  # columns of names
HEAD = ("model", "shots", "answer_form", "prompt_set", "prompt_language")  # the parts of a head, in order


def heat_tables(cells: Sequence[CellScores]) -> list[Table]:
    """Returns scores by language: for several models a table per task, for one model a table of all tasks.

    With one language, or with one task and model, it returns none: other tables have the same numbers.
    """
    scored = [cell for cell in cells if cell.n]
    sides = [*grouped(scored, lambda c: (c.task, *c.without_dimensions("language", "prompt").items())).values()]
    of_tasks, models = grouped(sides, lambda side: side[0].task), {cell.model for cell in scored}
    if len(models) < 2 and len(of_tasks) < 2:
        return []
    tables = [_table(of) for of in (of_tasks.values() if len(models) > 1 else [sides])]
    return [table for table in tables if len(table.rows) > 1]


def _table(sides: list[list[CellScores]]) -> Table:
    """Returns a table with a column for each side: the cells of a task, a model and its prompts.

    A shade is how high a score is between the lowest and the highest of its task; unranked metrics have none.
    """
    firsts, scores = [side[0] for side in sides], [{score.language: score for score in by_language(s)} for s in sides]
    tasks = {first.task: first.metric for first in firsts}
    codes = {code for of_side in scores for code in of_side}
    languages = sorted(codes, key=lambda code: (LANGUAGES[code].family, LANGUAGES[code].name))
    varied = sorted({*varying([first.dimensions for first in firsts])} - {"language"}, key=HEAD.index)
    columns = [Column("family"), Column("language", "language")]
    for first in firsts:
        head = [titled(first.task, first.metric)] if len(tasks) > 1 else []
        head += [named(first.dimensions, name) for name in varied]
        columns.append(Column(" ".join(head), "score", "", first.metric.bounds))
    rows: list[list[Any]] = [
        [LANGUAGES[code].family, code, *(of_side[code].score if code in of_side else None for of_side in scores)]
        for code in languages
    ]
    shades: dict[tuple[int, int], float] = {}
    ranked = [at for at, first in enumerate(firsts) if first.metric.ranked]
    for task_columns in grouped(ranked, lambda index: firsts[index].task).values():
        cells = {(row, at + N_NAMES): of[at + N_NAMES] for row, of in enumerate(rows) for at in task_columns}
        numbers = {place: score for place, score in cells.items() if score is not None}
        low, high = min(numbers.values()), max(numbers.values())
        if low < high:
            shades |= {place: (number - low) / (high - low) for place, number in numbers.items()}
    title = "Scores by language" if len(tasks) > 1 else f"{titled(*next(iter(tasks.items())))}: scores by language"
    unreviewed = {code: score.unreviewed for of in scores for code, score in of.items() if score.unreviewed}
    about = {} if len(tasks) > 1 else {"task": firsts[0].task}
    lines = [
        f"Known defect of {score.task} {LANGUAGES[score.language].name}: {score.defect}."
        for of_side in scores
        for score in of_side.values()
        if score.defect
    ]
    notes, signs = [*dict.fromkeys(lines), *unranked_notes(tasks.values())], unreviewed_signs(unreviewed.values())
    return Table("heat", title, columns, rows, notes, [], about, signs, dict.fromkeys(unreviewed, "*"), shades=shades)
