"""English against native prompts: a dumbbell per language, and the difference with its interval."""

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from afrieval.analysis.compared import all_contrasts
from afrieval.analysis.contrasts import Contrast
from afrieval.analysis.inputs import Inputs
from afrieval.errors import UserError
from afrieval.plots.strips import Content, Panel, Series, draw, frame_rows, label_rows, name, score_label
from afrieval.plots.style import GREY, MARKS, THICK, Mark
from afrieval.report.contrasts import NOTHING
from afrieval.report.native import by_difference, side_of, verdict
from afrieval.report.scores import UNREVIEWED
from afrieval.report.values import SHARE
from afrieval.scoring.base import Metric

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SEED = 42  # of bootstrap and permutations, as in `afrieval compare`
ENGLISH, NATIVE = Series("English prompts", {}, MARKS[0], True), Series("native prompts", {}, MARKS[1])
HELP, HURT = (Series(f"native prompts {word}", {}, mark) for word, mark in (("help", MARKS[2]), ("hurt", MARKS[4])))
NEITHER = Series("neither", {}, Mark("o", GREY, 3.2), True)
NOTHING_CONCLUDED = NEITHER._replace(name=NOTHING)
OF_VERDICT = {1: HELP._replace(mark=Mark("^", MARKS[2].colour, 4.2)), -1: HURT, 0: NEITHER, None: NOTHING_CONCLUDED}
NOTES = [
    "Lines: 95% intervals; those of differences, native minus English, hold for all languages of a panel at once.",
    "Help, hurt: the interval excludes 0, and the better side is above what is possible without reading.",
]


def native(given: Inputs) -> Content:
    """Returns a panel per task and model, with languages sorted by their difference.

    Raises:
        UserError: if nothing ran with prompts of both kinds.
    """
    cells = [cell for cell in [*given.own, *given.foreign] if cell.n]
    found = [c for c in all_contrasts(cells, given.foreign, ["prompt_language"], SEED) if c.rows]
    if not found:
        raise UserError(
            "no language here has both English and native prompts", "give a run with --task.prompt_language both"
        )
    starred = {c.task: {*c.declared.get("unreviewed", {})} for c in cells}
    panels = [_panel(by_difference(contrast), starred[contrast.task]) for contrast in found]
    any_star = any(row.language in starred[contrast.task] for contrast in found for row in contrast.rows)
    seen = [of for which, of in OF_VERDICT.items() if any(_verdict(c, which) for c in found)]
    return Content(panels, [ENGLISH, NATIVE, *seen], [*NOTES, *([UNREVIEWED] if any_star else [])], (1.5, 1))


def _verdict(contrast: Contrast, which: int | None) -> bool:
    return any(verdict(row, contrast.metric) == which for row in contrast.rows)


def _panel(contrast: Contrast, starred: set[str]) -> Panel:
    codes = [row.language for row in contrast.rows]
    title = ", ".join(filter(None, [contrast.task, name(side_of(contrast))]))
    return Panel(title, codes, partial(_draw, contrast, codes, starred), 2)


def _draw(contrast: Contrast, codes: Sequence[str], starred: set[str], axes: "Sequence[Axes]") -> None:
    scores, differences = axes
    metric = contrast.metric
    assert metric  # of a contrast with rows
    intervals = {row.language: [side.interval for side in row.sides] or [None, None] for row in contrast.rows}
    first = {row.language: (row.first, intervals[row.language][0]) for row in contrast.rows}
    second = {row.language: (row.second, intervals[row.language][1]) for row in contrast.rows}
    both = [ENGLISH._replace(points=first), NATIVE._replace(points=second)]
    draw(scores, codes, both, metric.bounds, joined=True)
    label_rows(scores, codes, starred)
    scores.set_xlabel(score_label(metric))
    for which, of in OF_VERDICT.items():
        rows = [row for row in contrast.rows if verdict(row, metric) == which]
        points = {row.language: (row.difference, row.interval) for row in rows}
        draw(differences, codes, [of._replace(points=points)], metric.bounds)
    differences.axvline(0, color="black", linewidth=THICK, zorder=1)
    differences.set_yticks(range(len(codes)), [""] * len(codes))
    frame_rows(differences, len(codes))
    differences.set_xlabel(_difference(metric))


def _difference(metric: Metric) -> str:
    return f"difference{' (points)' if metric.bounds == SHARE else ''}"
