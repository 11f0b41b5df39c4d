"""English against native prompts and the spread over prompts: tables with a verdict, and sentences."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from afrieval.analysis.contrasts import Contrast
from afrieval.analysis.differences import Difference
from afrieval.analysis.scores import PromptMean
from afrieval.report.columns import Column
from afrieval.report.comparable_scores import SETTINGS
from afrieval.report.comparison import contrast_tables
from afrieval.report.contrast_tables import ALIKE, NOTHING, sentence, side_name, why_not
from afrieval.report.score_tables import naming_rows, varying
from afrieval.report.table import Table
from afrieval.report.values import Point, bounds_of, language_name, shown_change, shown_score
from afrieval.report.verdict_words import OPEN, floors
from afrieval.results.cell_scores import CellScores
from afrieval.scoring.base import Metric

VERDICTS: dict[int | None, str] = {1: "▲ help", -1: "▼ hurt"}


def by_difference(contrast: Contrast) -> Contrast:
    """Returns a contrast whose rows are sorted by their difference, the highest first."""
    return replace(contrast, rows=sorted(contrast.rows, key=lambda row: -row.difference))


def verdict(row: Difference, metric: Metric | None) -> int | None:
    """Returns 1 if the second side is better beyond chance, -1 if it is worse, 0 without a detectable difference.

    None if nothing is concluded.
    """
    sign = 1 if metric is None or metric.higher_is_better else -1
    return sign * row.verdict if row.concludes else None


def points_of(row: Difference) -> list[Point]:
    """Returns the scores of both sides as charts draw them, English prompts first."""
    intervals = [side.interval for side in row.sides] or [None, None]
    return [Point(score, interval) for score, interval in zip((row.first, row.second), intervals, strict=True)]


def native_tables(cells: Sequence[CellScores], comparisons: Sequence[Contrast]) -> list[Table]:
    """Returns a table per contrast of prompt languages, which says what native prompts do in each language."""
    tables = []
    for contrast, table in zip(comparisons, naming_rows(contrast_tables(cells, comparisons), cells), strict=True):
        columns = [table.columns[0], Column("native prompts", "text", "verdict"), *table.columns[1:-1]]
        words = [VERDICTS.get(verdict(row, contrast.metric)) for row in contrast.rows]
        rows = [[row[0], word or row[-1], *row[1:-1]] for word, row in zip(words, table.rows, strict=True)]
        tables.append(replace(table, columns=columns, rows=rows))
    return tables


def side_of(contrast: Contrast) -> str:
    """Returns what distinguishes a contrast from others of its task; empty if nothing does."""
    return ", ".join(side_name(dimension, value) for dimension, value in contrast.fixed.items())


def native_findings(task: str, comparisons: Sequence[Contrast]) -> list[str]:
    """Returns in a sentence where native prompts help in a task; of several models, how often."""
    if len(comparisons) == 1:
        only = comparisons[0]
        return [f"{', '.join(filter(None, (task, side_of(only))))}. {sentence(only, only.metric)}"]
    all_verdicts = [verdict(row, contrast.metric) for contrast in comparisons for row in contrast.rows]
    verdicts = [each for each in all_verdicts if each is not None]
    open_ = sum(row.open for contrast in comparisons for row in contrast.rows)
    if not verdicts:
        return [f"{task}: {why_not(comparisons[0].rows[0], comparisons[0].metric)}."]
    parts = [f"{word} in {verdicts.count(which)}" for which, word in ((1, "help"), (-1, "hurt")) if which in verdicts]
    unread = any(floors(contrast) for contrast in comparisons)
    none = "their effect is not above what is possible without reading" if unread else f"they make {ALIKE}"
    seen = f"they {' and '.join(parts)}" if parts else none
    times = f"{task}: native prompts were compared with English ones {len(verdicts)} times (models and languages)"
    return [f"{times}; {seen}{f'; in {open_} more, {OPEN}' if open_ else ''}."]


def findings(task: str, prompt_means: Sequence[PromptMean], metric: Metric) -> list[str]:
    """Returns how far the best and the worst prompt are apart, on average and at most."""
    if not all(cell.selection.concludes for mean in prompt_means for cell in mean.cells):
        return [f"{task}: {NOTHING}."]
    widest = max(prompt_means, key=lambda mean: mean.spread)
    others = [d for d in varying([mean.dimensions for mean in prompt_means]) if d != "language"]
    where = "".join(f", {side_name(d, widest.dimensions[d])}" for d in others)
    middle = shown_score(float(np.median([mean.spread for mean in prompt_means])), metric.bounds)
    most = shown_score(widest.spread, metric.bounds)
    language = language_name(widest.dimensions["language"])
    return [f"{task}: the best and the worst prompt differ by {middle} (median), at most by {most}: {language}{where}."]


Effects = Mapping[tuple[object, ...], Mapping[str, "Effect"]]  # of each side of a task, by language


class Effect(NamedTuple):
    """What native prompts change in a language: a row of a contrast."""

    row: Difference
    contrast: Contrast

    @property
    def verdict(self) -> int | None:
        """As `native.verdict` has it."""
        return verdict(self.row, self.contrast.metric)

    @property
    def change(self) -> str:
        """The difference, on the scale of its metric."""
        return shown_change(self.row.difference, bounds_of(self.contrast.metric))

    @property
    def words(self) -> str:
        """What follows from it."""
        return {1: "help", -1: "hurt"}.get(self.verdict or 0) or why_not(self.row, self.contrast.metric)


def effects_of(contrasts: Iterable[Contrast]) -> Effects:
    """Returns what native prompts change for each side, from the contrasts of prompt languages."""
    effects: dict[tuple[object, ...], dict[str, Effect]] = {}
    for contrast in contrasts:
        for row in (row for row in contrast.rows if row.sides):
            key = side_key(row.sides[0].cells[0])
            effects.setdefault(key, {})[row.language] = Effect(row, contrast)
    return effects


def side_key(cell: CellScores) -> tuple[object, ...]:
    """Returns what tells a side of a task from others."""
    return (cell.task, cell.model, *(cell.dimensions[name] for name in SETTINGS))


def effect_words(effects: Sequence[Effect]) -> str:
    """Returns what native prompts change in a language, or in how many of several; empty if it is not known."""
    if not effects:
        return ""
    mean = float(np.mean([each.row.difference for each in effects]))
    change = shown_change(mean, bounds_of(effects[0].contrast.metric))
    if len(effects) == 1:
        words = effects[0].words
        return f"{words} ({change})" if effects[0].verdict else f"{change}, {words}"
    verdicts = [each.verdict for each in effects]
    if set(verdicts) == {None}:
        return next((each.words for each in effects if each.row.open), effects[0].words)
    words_of = ((1, "help"), (-1, "hurt"), (None, "nothing is concluded"))
    counts = [f"{word} in {verdicts.count(which)}" for which, word in words_of if which in verdicts]
    return f"{change} on average; {' and '.join(counts) or ALIKE} {'of' if counts else 'in'} {len(effects)} languages"
