"""The table of tasks of the harness, on the harness' own scale."""

from typing import Any

from afrieval.analysis.scores import LanguageScore
from afrieval.report.columns import Column
from afrieval.report.score_tables import INTERVAL
from afrieval.report.table import Table
from afrieval.report.values import ANY
from afrieval.run.harness.harness_scores import HarnessScore

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

    `rows_run` says which rows of the test sets ran; empty for all.
    """
    rows: list[list[Any]] = []
    for before, score in zip([None, *scores], scores, strict=False):
        again = before is not None and score.task == before.task
        head = ["", ""] if again else [f"= {score.task}" if score.members else score.task, score.language]
        metric = score.metric if score.filter == "none" else f"{score.metric}, {score.filter}"
        metric += (", macro" if score.macro else "") + (" ↓" if score.higher_is_better is False else "")
        raw = [score.task, score.language, score.metric, score.filter, score.members, score.macro]
        rows.append([*head, metric, score.value, score.interval, score.n, score.shots, *raw])
    columns = list(COLUMNS)
    if not any(score.language for score in scores):
        columns[1] = columns[1]._replace(form="hidden")
    title = "harness tasks" + (", prompts cleaned" if cleaned else "")
    about = {"selection": rows_run} if rows_run else {}
    signs = {
        "Values are as the harness computes them.": True,
        "= a group of the tasks above it.": any(s.members for s in scores),
        "macro: all tasks of a group have the same weight; the harness weighs them by size.": any(
            s.macro for s in scores
        ),
        "↓ lower is better.": any(s.higher_is_better is False for s in scores),
        "none: the harness gives no standard error.": any(s.interval is None for s in scores),
        "Prompts differ from the harness's own (clean_prompts).": cleaned,
    }
    shown, named = [sign for sign, holds in signs.items() if holds], ", ".join(filter(None, (title, rows_run)))
    return Table("harness", named, columns, rows, about=about, signs=shown)


def as_language_score(score: HarnessScore) -> LanguageScore:
    """Returns a score of the harness in the form of the suite's own scores."""
    metric = score.metric if score.filter == "none" else f"{score.metric},{score.filter}"
    return LanguageScore(
        task=score.task, language=score.language, prompt_language="", prompts=[], metric=metric, score=score.value,
        interval=score.interval, others={}, n=score.n, n_defect=0, chance=float("nan"),
    )  # fmt: skip
