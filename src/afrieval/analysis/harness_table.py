"""Scores of harness tasks to one terminal table that fits in 80 columns."""

import re

from rich.table import Table

from afrieval.analysis.harness import HarnessScore
from afrieval.analysis.statistics import Interval
from afrieval.analysis.tables import STYLE
from afrieval.languages import LANGUAGES


def harness_table(scores: list[HarnessScore]) -> Table:
    """Returns the table of harness tasks, one row per metric; what repeats from row to row is left blank."""
    table = Table(title="harness tasks", **STYLE)
    languages = any(s.language for s in scores)
    task_width, metric_width = (22, 13) if languages else (28, 18)  # with the numbers, 80 columns
    table.add_column("task", overflow="fold")
    if languages:
        table.add_column("language", overflow="fold")
    table.add_column("metric", overflow="fold")
    for name in ("value", "95 % int.", "n", "shots"):
        table.add_column(name, justify="right", no_wrap=True)
    before = None
    for score in scores:
        first = score.task != before
        before = score.task
        table.add_row(
            _broken(_name(score), task_width) if first else "",
            *([_broken(_language(score.language), 11) if first else ""] if languages else []),
            _broken(_metric(score), metric_width),
            number(score.value),
            _interval(score.interval),
            str(score.n),
            "" if score.shots is None else str(score.shots),
        )
    table.caption = _notes(scores)
    return table


def _name(score: HarnessScore) -> str:
    return f"= {score.task}" if score.members else score.task


def _broken(name: str, width: int) -> str:
    """Returns a name in lines no longer than `width`, broken after blanks, underscores and the like."""
    lines = [""]
    for part in re.findall(r"[^\s_-]*[\s_-]|[^\s_-]+", name):
        if lines[-1] and len(lines[-1]) + len(part.rstrip()) > width:
            lines.append("")
        lines[-1] += part
    return "\n".join(line.rstrip() for line in lines)


def _language(code: str) -> str:
    return LANGUAGES[code].name if code in LANGUAGES else code


def _metric(score: HarnessScore) -> str:
    name = score.metric if score.filter == "none" else f"{score.metric}, {score.filter}"
    return f"{name} ↓" if score.higher_is_better is False else name


def _notes(scores: list[HarnessScore]) -> str:
    notes = ["Values as the harness computes them."]
    if any(s.members for s in scores):
        notes.append("= a group of the tasks above it.")
    if any(s.higher_is_better is False for s in scores):
        notes.append("↓ lower is better.")
    if any(s.interval is None for s in scores):
        notes.append("none: the harness has no standard error.")
    return " ".join(notes)


def number(value: float) -> str:
    """Returns a value with four significant decimals where it is small, and short where it is not."""
    return f"{value:.4f}" if abs(value) < 10 else f"{value:.2f}" if abs(value) < 1e5 else f"{value:.3g}"


def _interval(interval: Interval | None) -> str:
    if interval is None:
        return "none"
    digits = 3 if abs(interval.high) < 10 else 1
    between = "-" if interval.low >= 0 else " to "
    return f"{interval.low:.{digits}f}{between}{interval.high:.{digits}f}"
