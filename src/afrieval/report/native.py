"""English against native prompts and the spread over prompts: tables with a verdict, and sentences."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from afrieval._util.grouping import grouped
from afrieval.analysis.contrasts import Contrast, LanguageContrast
from afrieval.analysis.entries import Spread
from afrieval.report.columns import Column
from afrieval.report.comparison import metrics_of
from afrieval.report.contrast_tables import ALIKE, NOTHING, OPEN, contrast_table, nothing, outcome, side_name
from afrieval.report.score_tables import defects_of, marked, naming_rows, noting_systems, unreviewed_of, varying
from afrieval.report.table import Table
from afrieval.report.values import Point, bounds_of, language_name, language_names, shown_score
from afrieval.report.verdict_words import floors, not_above_in, withheld
from afrieval.results.cell_scores import CellScores
from afrieval.scoring.base import Metric

VERDICTS: dict[int | None, str] = {1: "▲ help", -1: "▼ hurt", 0: ALIKE}


def by_difference(contrast: Contrast) -> Contrast:
    """Returns a contrast whose rows are sorted by their difference, the highest first."""
    return replace(contrast, rows=sorted(contrast.rows, key=lambda row: -row.difference))


def verdict(row: LanguageContrast, metric: Metric | None) -> int | None:
    """Returns 1 if the second side is better beyond chance, -1 if it is worse, 0 without a detectable difference.

    None if nothing is concluded.
    """
    found = outcome(row)
    return found if found is None or metric is None or metric.higher_is_better else -found


def points_of(row: LanguageContrast) -> list[Point]:
    """Returns the scores of both sides as charts draw them, English prompts first."""
    intervals = [side.interval for side in row.sides] or [None, None]
    return [Point(score, interval) for score, interval in zip((row.first, row.second), intervals, strict=True)]


def native_tables(cells: Sequence[CellScores], found: Sequence[Contrast]) -> list[Table]:
    """Returns a table per contrast of prompt languages, which says what native prompts do in each language."""
    of, tasks = metrics_of(list(cells)), grouped(cells, lambda cell: cell.task)
    tables = []
    for contrast in found:
        of_task, metric = tasks[contrast.task], contrast.metric or of.get(contrast.task)
        table = contrast_table(contrast, unreviewed_of(contrast.cells, of_task), metric)
        table = noting_systems(table, of_task)
        columns = [table.columns[0], Column("native prompts", "text", "verdict"), *table.columns[1:]]
        rows = [
            [
                row[0],
                withheld(of_row, bounds_of(metric)) or VERDICTS.get(verdict(of_row, metric), nothing(metric, of_row)),
                *row[1:],
            ]
            for of_row, row in zip(contrast.rows, table.rows, strict=True)
        ]
        table = replace(table, columns=columns, rows=rows, findings=[f"N{_said(contrast)[1:]}"])
        tables.append(marked(naming_rows([table], of_task)[0], defects_of(of_task)))
    return tables


def side_of(contrast: Contrast) -> str:
    """Returns what distinguishes a contrast from others of its task; empty if nothing does."""
    return ", ".join(side_name(dimension, value) for dimension, value in contrast.fixed.items())


def _said(contrast: Contrast) -> str:
    of = {which: [r.language for r in contrast.rows if verdict(r, contrast.metric) == which] for which in (1, -1)}
    parts = [f"{word} in {language_names(of[which])}" for which, word in ((1, "help"), (-1, "hurt")) if of[which]]
    alike = [row.language for row in contrast.rows if row.concludes and not row.differs]
    parts += [f"make no detectable difference in {language_names(alike, 3)}"] if alike else []
    of_floors = {language_name(code): floor for code, floor in floors(contrast).items()}
    said = f"native prompts {', '.join(parts)}." if parts else ""
    if unread := "; ".join(not_above_in(of_floors, bounds_of(contrast.metric))):
        said = f"{said.rstrip('.') or 'native prompts make a difference'}; the better side {unread}."
    unsure = grouped([row for row in contrast.rows if not row.concludes], lambda row: nothing(contrast.metric, row))
    several = said or len(unsure) > 1
    apart = [
        f"{language_names((row.language for row in rows), 3) if several else 'native prompts'}: {none}."
        for none, rows in unsure.items()
    ]
    return " ".join(filter(None, [said, *apart]))


def native_findings(task: str, found: Sequence[Contrast]) -> list[str]:
    """Returns in a sentence where native prompts help in a task; of several models, how often."""
    if len(found) == 1:
        return [f"{', '.join(filter(None, (task, side_of(found[0]))))}: {_said(found[0])}"]
    every = [verdict(row, contrast.metric) for contrast in found for row in contrast.rows]
    verdicts = [each for each in every if each is not None]
    open_ = sum(row.open for contrast in found for row in contrast.rows)
    if not verdicts:
        return [f"{task}: {OPEN if open_ else nothing(found[0].metric)}."]
    parts = [f"{word} in {verdicts.count(which)}" for which, word in ((1, "help"), (-1, "hurt")) if which in verdicts]
    unread = any(floors(contrast) for contrast in found)
    none = (
        "their effect is not above what is possible without reading" if unread else "they make no detectable difference"
    )
    seen = f"they {' and '.join(parts)}" if parts else none
    times = f"{task}: native prompts were compared with English ones {len(verdicts)} times (models and languages)"
    return [f"{times}; {seen}{f'; in {open_} more, {OPEN}' if open_ else ''}."]


def findings(task: str, found: Sequence[Spread], metric: Metric) -> list[str]:
    """Returns how far the best and the worst prompt are apart, on average and at most."""
    if not all(cell.selection.concludes for spread in found for cell in spread.cells):
        return [f"{task}: {NOTHING}."]
    widest = max(found, key=lambda spread: spread.spread)
    others = [d for d in varying([spread.dimensions for spread in found]) if d != "language"]
    where = "".join(f", {side_name(d, widest.dimensions[d])}" for d in others)
    middle = shown_score(float(np.median([spread.spread for spread in found])), metric.bounds)
    most = shown_score(widest.spread, metric.bounds)
    language = language_name(widest.dimensions["language"])
    return [f"{task}: the best and the worst prompt differ by {middle} (median), at most by {most}: {language}{where}."]
