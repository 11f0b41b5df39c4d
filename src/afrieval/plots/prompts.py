"""What the choice of the prompt does to scores: a mark for each prompt, and the mean with its interval."""

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from afrieval.analysis.inputs import Inputs
from afrieval.analysis.scores import averaged
from afrieval.analysis.spread import Spread, spreads
from afrieval.errors import UserError
from afrieval.grouping import grouped
from afrieval.plots.strips import Content, Panel, Point, Series, draw, label_rows, name, scale, score_label
from afrieval.plots.style import BROAD, MARKS, PALE
from afrieval.report.contrasts import side_name
from afrieval.report.dimensions import varying
from afrieval.report.scores import UNREVIEWED

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MEAN = "Grey: 95% interval of the mean over prompts."


def prompts(given: Inputs) -> Content:
    """Returns a panel per task, model and language of prompts, with languages sorted by their mean.

    Raises:
        UserError: if no task has two prompts, or there are more prompts than marks.
    """
    found = spreads([cell for cell in [*given.own, *given.foreign] if cell.n])
    ids = list(dict.fromkeys(prompt for spread in found for prompt in spread.prompts))
    if not found:
        raise UserError("no task here has scores under several prompts", "give a run with --task.prompts 1,2 or more")
    varied = [d for d in varying([spread.dimensions for spread in found]) if d != "language"]
    groups = grouped(found, lambda s: (s.task, *(s.dimensions[d] for d in varied)))
    if len(ids) > len(MARKS):
        raise UserError(
            f"{len(ids)} prompts are too many for one figure", f"name fewer runs: a figure has {len(MARKS)} marks"
        )
    marks = dict(zip(ids, MARKS, strict=False))
    key = [Series(f"prompt {prompt}", {}, mark) for prompt, mark in marks.items()]
    panels = [_panel(of, [*(side_name(d, v) for d, v in zip(varied, values, strict=True))], marks)
              for (_, *values), of in groups.items()]  # fmt: skip
    starred = any(_starred(spread) for spread in found)
    return Content(panels, key, [MEAN, *([UNREVIEWED] if starred else [])])


def _panel(found: Sequence[Spread], sides: Sequence[str], marks: dict[Any, Any]) -> Panel:
    metric = found[0].cells[0].metric
    ordered = sorted(found, key=lambda spread: -spread.mean if metric.higher_is_better else spread.mean)
    codes = [spread.dimensions["language"] for spread in ordered]
    return Panel(", ".join([found[0].task, *map(name, sides)]), codes, partial(_draw, ordered, codes, marks), 3)


def _draw(found: Sequence[Spread], codes: Sequence[str], marks: dict[Any, Any], axes: "Sequence[Axes]") -> None:
    (whole,) = axes
    metric = found[0].cells[0].metric
    factor = scale(metric.bounds)
    of_prompts: dict[Any, dict[str, Point]] = {prompt: {} for prompt in marks}
    for row, spread in enumerate(found):
        for prompt, cell in zip(spread.prompts, spread.cells, strict=True):
            of_prompts[prompt][codes[row]] = cell.score, None
        interval = averaged(spread.cells).interval
        if interval is not None:
            whole.plot([end * factor for end in interval], [row, row], color=PALE, linewidth=BROAD, zorder=1)
        whole.plot(spread.mean * factor, row, "|", color="black", markersize=BROAD, zorder=2)
    series = [Series(str(prompt), points, marks[prompt]) for prompt, points in of_prompts.items() if points]
    draw(whole, codes, series, metric.bounds)
    label_rows(whole, codes, {code for code, spread in zip(codes, found, strict=True) if _starred(spread)})
    whole.set_xlabel(score_label(metric))


def _starred(spread: Spread) -> bool:
    """Returns whether prompts are native and unreviewed."""
    of = spread.dimensions
    native = of["prompt_language"] == "native"
    return native and of["language"] in spread.cells[0].declared.get("unreviewed", {})
