"""What a comparison of several models begins with: who is best, and who cannot be told apart from it."""

from collections.abc import Sequence
from typing import Any

from afrieval._util.grouping import grouped
from afrieval.report.columns import Column
from afrieval.report.comparable_scores import ComparableScores, comparable_scores
from afrieval.report.score_tables import defects_of, marked, scored_columns
from afrieval.report.standing_words import TaskStanding, task_standings
from afrieval.report.table import Table
from afrieval.report.values import language_names
from afrieval.results.cell_scores import CellScores

FEWEST = 3  # models; of two, the table of their difference says it all
SURE = "ranks of all models in a language, and in the mean, are right at once with 95% confidence"


def leader_tables(cells: Sequence[CellScores]) -> list[Table]:
    """Returns a table for each task and prompt language with three models or more: the best in each language."""
    comparable = comparable_scores([cell for cell in cells if cell.is_averaged])
    return [_table(part) for part in comparable if len(part.sides) >= FEWEST]


def _table(part: ComparableScores) -> Table:
    best = [side for side in task_standings(part, {}) if side.leads and side.concludes]
    columns = [
        Column("language", "language"), Column("best", "text", "side"), Column("", "hidden", "model"),
        *scored_columns("score", part.metric.bounds), Column("n", "count"),
        Column("not told apart from", "text", "rivals", says=SURE),
    ]  # fmt: skip
    rows: list[list[Any]] = []
    for side in (side for side in best if side.board.name):
        name, score, interval, _, n, *_ = side.row
        rivals = f"not above {side.unread}" if side.unread else ", ".join(side.rivals) or "none"
        rows.append([side.board.name, "none" if side.unread else name, side.model, score, interval, n, rivals])
    about = {"task": part.task, "prompt_language": part.kind}
    title = f"{part.title}: best in each language"
    table = Table("best", title, columns, rows, findings=_findings(part, best), about=about)
    return marked(table, defects_of([cell for of_side in part.sides.values() for cell in of_side]))


def _findings(part: ComparableScores, best: Sequence[TaskStanding]) -> list[str]:
    """Returns who is best over languages, and in which languages one model is clearly the best."""
    if not best:
        return [f"{part.title}: nothing is concluded."]
    means = [side for side in best if not side.board.name]
    findings = [f"Over {len(side.row.languages)} African languages, {side.words}." for side in means]
    languages = [side for side in best if side.board.name]
    if len(languages) == 1 and not findings:
        return [f"In {language_names([languages[0].board.name])}, {languages[0].words}."]
    clear = [side for side in languages if not side.rivals and not side.unread]
    where = [
        f"{name} in {language_names(side.board.name for side in sides)}"
        for name, sides in grouped(clear, lambda side: side.row.side).items()
    ]
    among = f"in {len(clear) or 'none'} of {len(languages)} languages"
    return [*findings, f"One model is clearly the best {among}{': ' if where else ''}{'; '.join(where)}."]
