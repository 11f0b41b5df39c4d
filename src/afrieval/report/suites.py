"""Averages over the tasks of a suite, with the tasks that they are made of."""

from typing import Any

from afrieval.analysis.averages import APART, RULES, Average, Part
from afrieval.languages import LANGUAGES
from afrieval.report.scores import INTERVAL, SETS, WRITTEN
from afrieval.report.table import Column, Table
from afrieval.results.prompts import SUITE
from afrieval.scoring.labels import label
from afrieval.statistics.intervals import Interval

PERCENT = (0.0, 100.0)  # what averages are in before they are in a table, which has shares
KEPT = ("model", "shots", "answer_form")  # named where several of them are at hand


def suite_tables(found: list[Average], rule: str = "suite") -> list[Table]:
    """Returns the table of tasks and averages; none for a single task.

    Args:
        found: averages of all sides.
        rule: of `RULES`, by which they were taken.
    """
    several = [average for average in found if len(average.parts) > 1]
    if not several:
        return []
    varying = [name for name in KEPT if len({average.dimensions[name] for average in several}) > 1]
    grouped = any(len(average.groups) < len(average.parts) for average in several)
    columns = [Column("group")] if grouped else []
    columns += [Column("task"), *(Column(name.replace("_", " "), "text", name) for name in varying)]
    columns += [Column("prompts", "text", "-"), Column("", "hidden", "prompt_language"), Column("metric")]
    columns += [Column("mean", "score"), Column(INTERVAL, "interval", "interval")]
    columns += [Column("n", "count", "n_languages"), Column("", "hidden", "members")]
    ran = {code for average in several for part in average.parts for code in part.apart}
    columns += [Column(LANGUAGES[code].name, "score" if code in ran else "hidden", code) for code in APART]
    rows, ends = [], []
    for average in several:
        of_side = [average.dimensions[name] for name in varying]
        own = [_row(part, average, of_side) for part in average.parts]
        rows += [row if grouped else row[1:] for row in (*own, _last(average, of_side))]
        ends += [len(rows) - 2, len(rows) - 1]
    suite = next((average.suite for average in several if average.suite), "")
    title = f"Average of {suite}" if suite else "Average over tasks"
    return [Table("suite", title, columns, rows, _notes(several, rule), about={"suite": suite}, ends=ends)]


def _row(part: Part, average: Average, of_side: list[Any]) -> list[Any]:
    place = [part.group, part.task, *of_side, *_prompts(average, part), label(part.metric)]
    apart = [part.apart[code] / 100 if code in part.apart else None for code in APART]
    return [*place, *shares(part.score, part.interval), len(part.languages), part.languages, *apart]


def shares(score: float, interval: Interval | None) -> tuple[float, Interval | None]:
    """Returns a score in percent and its interval as shares, which all tables have."""
    return score / 100, Interval(*(end / 100 for end in interval)) if interval else None


def _last(average: Average, of_side: list[Any]) -> list[Any]:
    languages = list(dict.fromkeys(code for part in average.parts for code in part.languages))
    place = ["", "average", *of_side, *_prompts(average), ""]
    return [*place, *shares(average.score, average.interval), len(languages), sorted(languages), None, None]


def _prompts(average: Average, part: Part | None = None) -> list[Any]:
    """Returns what the prompts are called, and their language."""
    kind, of_set = average.dimensions["prompt_language"], average.dimensions["prompt_set"]
    chosen = f" {part.prompt}" if part and part.prompt is not None else ""
    return [f"{WRITTEN[kind] if of_set == SUITE else SETS[of_set]}{chosen}", kind]


def _notes(found: list[Average], rule: str) -> list[str]:
    notes = ["Scores are in percent of the metric's range. n: languages.", RULES[rule].says]
    notes += ["The interval is over languages and documents."]
    for average in found:
        whole = len(average.parts) + len(average.missing) + len(average.outside)
        if average.missing or average.outside:
            kind = WRITTEN[average.dimensions["prompt_language"]]
            notes.append(f"The average with {kind} prompts is over {len(average.parts)} of {whole} tasks.")
        if average.missing:
            notes.append(f"Without scores: {', '.join(average.missing)}.")
        if average.outside:
            notes.append(f"Not averaged, having no score between 0 and a maximum: {', '.join(average.outside)}.")
    members = {tuple(part.languages) for average in found for part in average.parts}
    if len(members) == 1:
        notes.append(f"Languages: {' '.join(next(iter(members)))}.")
    return list(dict.fromkeys(notes))
