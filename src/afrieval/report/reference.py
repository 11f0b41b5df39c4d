"""Tasks with a published evaluation as tables: what was measured, and below it what was published."""

from typing import Any

from afrieval.analysis.reference import (
    Measured,
    by_run,
    is_other_model,
    measured,
    on_samples,
    published,
    reference_model,
    unparsed,
)
from afrieval.report.scores import INTERVAL
from afrieval.report.table import Column, Table
from afrieval.results.scores import CellScores
from afrieval.scoring.labels import DESCRIPTIONS, NOT_PARSED, UNPARSED, label
from afrieval.tasks.meta import ORGANISATION

COLUMNS = [
    Column("task", "text", "-"),
    Column("metric", "text", "-"),
    Column("score", "score"),
    Column(INTERVAL, "limits", "interval"),
    Column("n", "count"),
    Column("bad", "count", "n_defect"),
    Column(NOT_PARSED, "score"),
    *(Column("", "hidden", name) for name in ("task", "kind", "metric", "average", "parts", "setting", "source")),
]


def reference_tables(found: list[CellScores]) -> list[Table]:
    """Returns a table per model and data set: each task's measured scores, then its published ones."""
    runs = by_run(found)
    return [_table(of_run, legend=of_run is runs[-1]) for of_run in runs]


def _table(of_run: list[CellScores], legend: bool) -> Table:
    rows: list[list[Any]] = []
    dimmed: list[int] = []
    ends: list[int] = []
    for each in of_run:
        rows += [_measured(each, score, first=at == 0) for at, score in enumerate(measured(each))]
        of_others = _published(each)
        dimmed += range(len(rows), len(rows) + len(of_others))
        rows += of_others
        ends.append(len(rows) - 1)
    first = of_run[0]
    about = {"model": first.model, "evals": first.declared["evals"], "samples": on_samples(first)}
    data = [first.declared["evals"].removeprefix(ORGANISATION)] if reference_model(first) else []
    title = f"{', '.join([*data, *(['our own sample rows'] if on_samples(first) else [])])}: {first.model}"
    notes = [*_about_published(of_run), *(_legend(of_run) if legend else [])]
    return Table("reference", title, COLUMNS, rows, notes, about=about, dimmed=dimmed, ends=ends)


def _measured(each: CellScores, found: Measured, first: bool) -> list[Any]:
    """Returns a row; a cell's first score stands under the task's name."""
    parts = found.parts
    over = f"mean of {parts} subtask{'s' if parts != 1 else ''}" if parts else DESCRIPTIONS.get(found.metric, "")
    metric = label(found.metric) + (f", {found.average}" if found.average else "")
    counted = [found.n, each.n_defect, unparsed(each)] if first else [found.n, None, None]
    raw = [each.task, "measured", found.metric, found.average, parts, None, None]
    return [each.task if first else over, metric, found.score, found.interval, *counted, *raw]


def _published(each: CellScores) -> list[list[Any]]:
    """Returns the rows of published scores; sources stand with those that are of the same setting."""
    found = published(each)
    settings = [(score.average, score.setting) for score in found]
    parts = bool(each.declared.get("macro"))
    rows = []
    for score in found:
        sources = "; ".join(score.sources)
        apart = f" ({sources})" if settings.count((score.average, score.setting)) > 1 else ""
        average = (score.average or "not stated") if parts else ""
        raw = [each.task, "published", None, score.average, None, score.setting, sources]
        rows.append([f"published: {score.setting}{apart}", average, score.score, None, None, None, None, *raw])
    return rows


def _about_published(of_run: list[CellScores]) -> list[str]:
    """Returns whose the published scores are, and which tasks ran on fewer rows."""
    first = of_run[0]
    if not any(published(each) for each in of_run):
        return []
    other = f", not of {first.model}" if is_other_model(first) else ""
    whose = f"published: scores of {reference_model(first)}{other}, on all rows; run.yaml lists their sources."
    rows = [(e.task, e.rows, e.declared.get("rows")) for e in of_run]
    fewer = [f"{task} {ran} of {of_all}" for task, ran, of_all in rows if of_all and ran < of_all]
    return [whose, *([f"Fewer rows ran here, so do not compare: {', '.join(fewer)}."] if fewer else [])]


def _legend(of_run: list[CellScores]) -> list[str]:
    notes = ["Prompts are Meta's own, complete with examples."] if not on_samples(of_run[0]) else []
    if any(each.macro for each in of_run):
        notes.append("micro: all rows have the same weight; macro: all subtasks do. Compare like with like.")
    if any(unparsed(each) is not None for each in of_run):
        notes.append(f"{NOT_PARSED}: {UNPARSED}.")
    return [*notes, "bad: rows with a defect."]
