"""Scores of harness tasks as a table."""

from typing import Any

from afrieval.harness.scores import HarnessScore
from afrieval.report.scores import INTERVAL
from afrieval.report.table import Column, Table
from afrieval.report.values import ANY

COLUMNS = [
    Column("task", "text", "-"),
    Column("language", "language", "-"),
    Column("metric", "text", "-"),
    Column("value", "score", "", ANY),
    Column(INTERVAL, "interval", "interval", ANY),
    Column("n", "count"),
    Column("shots", "count"),
    *(Column("", "hidden", name) for name in ("task", "language", "metric", "filter", "members", "macro")),
]


def harness_table(scores: list[HarnessScore], cleaned: bool, rows_run: str = "") -> Table:
    """Returns the table of harness tasks, one row per metric; what repeats from row to row is left blank.

    Args:
        scores: metrics of tasks and groups, in order.
        cleaned: whether stray blanks were taken out of the prompts.
        rows_run: which rows of the test sets ran, in words; empty for all.
    """
    rows = [_row(score, i > 0 and score.task == scores[i - 1].task) for i, score in enumerate(scores)]
    columns = list(COLUMNS)
    if not any(score.language for score in scores):
        columns[1] = columns[1]._replace(form="hidden")
    title = "harness tasks" + (", prompts cleaned" if cleaned else "")
    about = {"selection": rows_run} if rows_run else {}
    named = ", ".join(filter(None, (title, rows_run)))
    return Table("harness", named, columns, rows, _notes(scores, cleaned), about=about)


def _row(score: HarnessScore, again: bool) -> list[Any]:
    named = ["", ""] if again else [f"= {score.task}" if score.members else score.task, score.language]
    raw = [score.task, score.language, score.metric, score.filter, score.members, score.macro]
    return [*named, _metric(score), score.value, score.interval, score.n, score.shots, *raw]


def _metric(score: HarnessScore) -> str:
    name = score.metric if score.filter == "none" else f"{score.metric}, {score.filter}"
    name += ", macro" if score.macro else ""
    return f"{name} ↓" if score.higher_is_better is False else name


def _notes(scores: list[HarnessScore], cleaned: bool) -> list[str]:
    notes = {
        "Values are as the harness computes them.": True,
        "= a group of the tasks above it.": any(s.members for s in scores),
        "macro: all tasks of a group have the same weight; the harness weighs them by size.": any(
            s.macro for s in scores
        ),
        "↓ lower is better.": any(s.higher_is_better is False for s in scores),
        "none: the harness gives no standard error.": any(s.interval is None for s in scores),
        "Prompts differ from the harness's own (clean_prompts).": cleaned,
    }
    return [note for note, holds in notes.items() if holds]
