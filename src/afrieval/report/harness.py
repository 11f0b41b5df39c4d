"""Scores of harness tasks to one terminal table that fits in 80 columns."""

from rich.table import Table

from afrieval.harness.scores import HarnessScore
from afrieval.languages import LANGUAGES
from afrieval.report.scores import STYLE, broken
from afrieval.statistics.intervals import Interval

NUMBERS = ("value", "95 % int.", "n", "shots")
WIDTH = 80
BETWEEN = 2  # columns of blanks between two columns


def harness_table(scores: list[HarnessScore], cleaned: bool) -> Table:
    """Returns the table of harness tasks, one row per metric; what repeats from row to row is left blank.

    Numbers are never cut: names get the room that they leave, and are broken into lines.

    Args:
        scores: metrics of tasks and groups, in order.
        cleaned: whether stray blanks were taken out of the prompts.
    """
    numbers = [[number(s.value), _interval(s.interval), str(s.n), _shots(s)] for s in scores]
    room = WIDTH - sum(max(map(len, column)) + BETWEEN for column in zip(NUMBERS, *numbers, strict=True))
    languages = _column([_language(s.language) for s in scores], 11) if any(s.language for s in scores) else []
    metrics = _column([_metric(s) for s in scores], 13 if languages else 18)
    room -= sum(_width(column) + BETWEEN for column in (metrics, languages) if column)
    tasks = _column([_name(s) for s in scores], max(room, 10))
    again = [i > 0 and s.task == scores[i - 1].task for i, s in enumerate(scores)]
    table = Table(title="harness tasks" + (", prompts cleaned" if cleaned else ""), **STYLE)
    for name in ("task", *(["language"] if languages else []), "metric"):
        table.add_column(name, overflow="fold")
    for name in NUMBERS:
        table.add_column(name, justify="right", no_wrap=True)
    for i, row in enumerate(numbers):
        named = [tasks[i], *([languages[i]] if languages else [])]
        table.add_row(*("" if again[i] else cell for cell in named), metrics[i], *row)
    table.caption = _notes(scores) + (" Prompts differ from the harness' own (clean_prompts)." if cleaned else "")
    return table


def _column(names: list[str], width: int) -> list[str]:
    return [broken(name, width) for name in names]


def _width(cells: list[str]) -> int:
    return max(len(line) for cell in [*cells, "language"] for line in cell.split("\n"))


def _shots(score: HarnessScore) -> str:
    return "" if score.shots is None else str(score.shots)


def _name(score: HarnessScore) -> str:
    return f"= {score.task}" if score.members else score.task


def _language(code: str) -> str:
    return LANGUAGES[code].name if code in LANGUAGES else code


def _metric(score: HarnessScore) -> str:
    name = score.metric if score.filter == "none" else f"{score.metric}, {score.filter}"
    name += ", macro" if score.macro else ""
    return f"{name} ↓" if score.higher_is_better is False else name


def _notes(scores: list[HarnessScore]) -> str:
    notes = ["Values as the harness computes them."]
    if any(s.members for s in scores):
        notes.append("= a group of the tasks above it.")
    if any(s.macro for s in scores):
        notes.append("macro: each task of a group counts the same; the harness weighs them by size.")
    if any(s.higher_is_better is False for s in scores):
        notes.append("↓ lower is better.")
    if any(s.interval is None for s in scores):
        notes.append("none: the harness has no standard error.")
    return " ".join(notes)


def number(value: float) -> str:
    """Returns a value in at most eight signs, with four decimals where it is small."""
    size = abs(value)
    return (
        f"{value:.4f}"
        if size < 10
        else f"{value:.2f}"
        if size < 1e4
        else f"{value:.0f}"
        if size < 1e7
        else f"{value:.2e}"
    )


def _interval(interval: Interval | None) -> str:
    if interval is None:
        return "none"
    kind = ".3f" if abs(interval.high) < 10 else ".1f" if abs(interval.high) < 1e4 else ".3g"
    between = "-" if interval.low >= 0 else " to "
    return f"{interval.low:{kind}}{between}{interval.high:{kind}}"
