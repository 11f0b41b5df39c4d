"""Tables of the scores and answers that changed when a run was scored again."""

import json
from collections.abc import Iterable, Sequence
from typing import Any

from afrieval._util.grouping import grouped
from afrieval._util.terminal import shortened
from afrieval.report.columns import Column
from afrieval.report.score_tables import WRITTEN
from afrieval.report.table import Table
from afrieval.results.cell_key import prompt_ranges
from afrieval.results.cell_scores import CellScores
from afrieval.results.changes import Move
from afrieval.run.rescore import Again, Changed

GONE = "Metrics without a score now are not measured any more."
ADDED = "Metrics without a score before were added since the run."


def rescored_tables(moves: Iterable[Move], cells: Sequence[Again], n: int, about: dict[str, Any]) -> list[Table]:
    """Returns the scores that moved, a table for each task and scale, and some of the answers that moved."""
    tables = [
        _of_scale(task, of, about) for (task, _), of in grouped(moves, lambda m: (m.task, m.metric.bounds)).items()
    ]
    moved = [(again.after, each) for again in cells for each in again.changed if each.before != each.after]
    return [*tables, *([_of_answers(moved, n, about)] if moved and n else [])]


def _of_scale(task: str, moves: Sequence[Move], about: dict[str, Any]) -> Table:
    bounds = moves[0].metric.bounds
    columns = [
        Column("language", "language"),
        Column("prompts", key="-"),
        Column("prompt_language", "hidden"),
        Column("prompts", "hidden"),
        Column("metric"),
        Column("before", "score", bounds=bounds),
        Column("now", "score", bounds=bounds),
        Column("change", "change", bounds=bounds),
        Column("answers", "amount"),
        Column("up", "amount", says="answers whose own score is higher now"),
        Column("down", "amount", says="answers whose own score is lower now"),
    ]
    notes = [ADDED] if any(move.before is None for move in moves) else []
    notes += [GONE] if any(move.after is None for move in moves) else []
    rows: list[list[Any]] = []
    for move in moves:
        change = None if move.before is None or move.after is None else move.after - move.before
        prompts = f"{WRITTEN[move.prompt_language]} {prompt_ranges(move.prompts)}"
        head = [move.language, prompts, move.prompt_language, move.prompts, move.metric.name]
        rows.append([*head, move.before, move.after, change, move.n, move.up, move.down])
    return Table("rescored", f"{task}: scores that moved", columns, rows, notes, about={**about, "task": task})


def _of_answers(answers: Sequence[tuple[CellScores, Changed]], n: int, about: dict[str, Any]) -> Table:
    columns = [Column("task"), Column("language", "language"), Column("prompt", key="-")]
    columns += [Column("row", "count", "document"), Column("before", key="-"), Column("now", key="-")]
    columns += [Column(name, "hidden") for name in ("prompt_language", "prompt", "before", "now")]
    rows: list[list[Any]] = []
    for cell, answer in answers[:n]:
        prompt = f"{WRITTEN[cell.prompt_language]} {cell.prompt}"
        seen = [cell.task, cell.language, prompt, answer.row, _shown(answer.before), _shown(answer.after)]
        rows.append([*seen, cell.prompt_language, cell.prompt, answer.before, answer.after])
    more = [f"{len(answers)} answers moved; --n {len(answers)} shows all."] if len(answers) > n else []
    return Table("rescored_answers", "Answers that moved", columns, rows, more, about=about)


def _shown(answer: Any) -> str:
    if answer is None:
        return "unparsed"
    return shortened(answer if isinstance(answer, str) else json.dumps(answer, ensure_ascii=False))
