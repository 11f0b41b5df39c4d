"""Scores by language: a mark and an interval for each model and language of prompts."""

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from afrieval.analysis.inputs import Inputs
from afrieval.analysis.scores import LanguageScore, by_language
from afrieval.errors import UserError
from afrieval.grouping import grouped
from afrieval.plots.strips import Content, Panel, Series, chance_line, draw, label_rows, name, row_marks, score_label
from afrieval.plots.style import MARKS
from afrieval.report.scores import UNREVIEWED, WRITTEN
from afrieval.report.sides import Part, parts

if TYPE_CHECKING:
    from matplotlib.axes import Axes

CHANCE = "Dotted line: score of a random guess."
WITHOUT_READING = "Upright lines: best score without reading the text."
Side = tuple[str, str]  # its name, the language of its prompts


def languages(given: Inputs) -> Content:
    """Returns a panel per task, with languages sorted by their mean score.

    Raises:
        UserError: for more models than there are marks.
    """
    found = parts([*given.own, *given.foreign])
    sides = list(dict.fromkeys((side, part.kind) for part in found for side in part.sides))
    if len(sides) > len(MARKS):
        raise UserError(
            f"{len(sides)} models and languages of prompts are too many for one figure",
            f"name fewer runs: a figure has {len(MARKS)} marks",
        )
    several = len({kind for _, kind in sides}) > 1
    names = {side: ", ".join([name(side[0]), *([f"{WRITTEN[side[1]]} prompts"] if several else [])]) for side in sides}
    marks = dict(zip(sides, MARKS, strict=False))
    panels, notes = [], ["Lines: 95% intervals."]
    for (task, _), of_task in grouped(found, lambda part: (part.task, part.metric.name)).items():
        scores = {(side, part.kind): by_language(cells) for part in of_task for side, cells in part.sides.items()}
        series = [
            Series(names[side], {s.language: (s.score, s.interval) for s in of}, marks[side], side[1] == "native")
            for side, of in scores.items()
        ]
        every = [score for of in scores.values() for score in of]
        panels.append(_panel(task, of_task, series, every))
        notes += [CHANCE] if any(not np.isnan(score.chance) for score in every) else []
        notes += [WITHOUT_READING] if any(score.baselines for score in every) else []
        notes += [UNREVIEWED] if _starred(of_task) else []
    key = [Series(of, {}, marks[side], side[1] == "native") for side, of in names.items()]
    return Content(panels, key if len(key) > 1 else [], list(dict.fromkeys(notes)))


def _panel(task: str, found: Sequence[Part], series: Sequence[Series], scores: Sequence[LanguageScore]) -> Panel:
    of_language = grouped(scores, lambda score: score.language)
    sign = 1 if found[0].metric.higher_is_better else -1
    codes = sorted(of_language, key=lambda code: -sign * np.mean([score.score for score in of_language[code]]))
    return Panel(task, codes, partial(_draw, found[0], codes, series, scores, _starred(found)), len(series))


def _draw(
    part: Part,
    codes: Sequence[str],
    series: Sequence[Series],
    scores: Sequence[LanguageScore],
    starred: set[str],
    axes: "Sequence[Axes]",
) -> None:
    (whole,) = axes
    draw(whole, codes, series, part.metric.bounds)
    label_rows(whole, codes, starred)
    unread = {score.language: max(score.baselines.values()) for score in scores if score.baselines}
    row_marks(whole, codes, unread, part.metric.bounds)
    chance_line(whole, float(np.mean([score.chance for score in scores])), part.metric.bounds)
    whole.set_xlabel(score_label(part.metric))


def _starred(found: Sequence[Part]) -> set[str]:
    """Returns the languages with unreviewed native prompts."""
    native = [cell for part in found if part.kind == "native" for cells in part.sides.values() for cell in cells]
    return {cell.language for cell in native if cell.language in cell.declared.get("unreviewed", {})}
