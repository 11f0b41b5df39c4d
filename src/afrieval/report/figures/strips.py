"""A panel of a figure: a row for each language, with a mark and an interval for each side."""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from afrieval._util.terminal import one_line
from afrieval.report.figures.style import GREY, GROUND, LINE, ROOM, THICK, Mark
from afrieval.report.values import SHARE, Bounds, language_name
from afrieval.scoring.base import Metric
from afrieval.scoring.statistics.intervals import Interval

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Point = tuple[float, Interval | None]  # a score and its interval
LONGEST = 40  # characters of a name


class Panel(NamedTuple):
    """A part of a figure.

    Attributes:
        title: what distinguishes it from others; empty if it is the only one.
        codes: languages, from top to bottom.
        draw: draws it on its axes, which stand next to each other.
        marks: most marks in a row.
    """

    title: str
    codes: Sequence[str]
    draw: "Callable[[Sequence[Axes]], None]"
    marks: int = 1


class Content(NamedTuple):
    """What a figure shows.

    Attributes:
        panels: from top to bottom.
        key: what its marks mean; empty if there is only one.
        notes: sentences below it.
        widths: shares of the axes of a panel in its width.
    """

    panels: Sequence[Panel]
    key: "Sequence[Series]"
    notes: Sequence[str]
    widths: Sequence[float] = (1,)


class Series(NamedTuple):
    """What has one mark in all rows.

    Attributes:
        points: by language.
        hollow: whether its marks are not filled.
    """

    name: str
    points: Mapping[str, Point]
    mark: Mark
    hollow: bool = False


def height(panel: Panel) -> float:
    """Returns the height of a panel in inches."""
    return ROOM + LINE * len(panel.codes) * max(1.0, 0.5 * panel.marks)


def draw(axes: "Axes", codes: Sequence[str], series: Sequence[Series], bounds: Bounds, joined: bool = False) -> None:
    """Draws marks with intervals, the marks of a row below each other, with a line between them if `joined`."""
    step = 0 if len(series) == 1 else min(0.7 / len(series), 0.22)
    for number, one in enumerate(series):
        shift = (number - (len(series) - 1) / 2) * step
        for row, code in enumerate(codes):
            if code in one.points:
                _draw_point(axes, one, row + shift, one.points[code], scale(bounds))
    for row, code in enumerate(codes if joined else ()):
        ends = [one.points[code][0] * scale(bounds) for one in series if code in one.points]
        places = [row + (number - (len(series) - 1) / 2) * step for number in range(len(ends))]
        axes.plot(ends, places, color=GREY, linewidth=THICK, zorder=2)


def _draw_point(axes: "Axes", of: Series, y: float, point: Point, factor: float) -> None:
    value, interval = point
    shape, colour, size = of.mark
    if interval is not None:
        axes.plot([end * factor for end in interval], [y, y], color=colour, linewidth=THICK, zorder=2)
    face = "white" if of.hollow else colour
    axes.plot(
        value * factor, y, shape, markersize=size, markerfacecolor=face, markeredgecolor=colour,
        markeredgewidth=THICK, zorder=3,
    )  # fmt: skip


def label_rows(axes: "Axes", codes: Sequence[str], starred: Collection[str]) -> None:
    """Names the rows; those of unreviewed native prompts have a star."""
    names = [f"{language_name(code)}{'*' if code in starred else ''}" for code in codes]
    axes.set_yticks(range(len(codes)), names)
    frame_rows(axes, len(codes))


def frame_rows(axes: "Axes", rows: int) -> None:
    """Gives the panel its rows, every other one on a faint ground, which leads the eye."""
    axes.set_ylim(rows - 0.5, -0.5)
    for row in range(1, rows, 2):
        axes.axhspan(row - 0.5, row + 0.5, color=GROUND, linewidth=0, zorder=0)


def key_of(series: Sequence[Series]) -> list[Any]:
    """Returns what a legend has of each mark."""
    from matplotlib.lines import Line2D

    return [
        Line2D(
            [], [], linestyle="", marker=one.mark.shape, markersize=one.mark.size, markeredgecolor=one.mark.colour,
            markerfacecolor="white" if one.hollow else one.mark.colour, markeredgewidth=THICK, label=one.name,
        )
        for one in series
    ]  # fmt: skip


def chance_line(axes: "Axes", chance: float, bounds: Bounds) -> None:
    """Draws the score of a random guess, if one is known."""
    if chance == chance:  # not NaN
        axes.axvline(chance * scale(bounds), color=GREY, linestyle=":", linewidth=THICK, zorder=1)


def row_marks(axes: "Axes", codes: Sequence[str], values: Mapping[str, float], bounds: Bounds) -> None:
    """Draws a line through the rows of languages that have a value, over all marks of the row."""
    for row, code in enumerate(codes):
        if code in values:
            places = [values[code] * scale(bounds)] * 2
            axes.plot(places, [row - 0.4, row + 0.4], color=GREY, linewidth=THICK, zorder=1)


def scale(bounds: Bounds) -> float:
    """Returns the factor of scores on an axis: shares are in percent, as in tables."""
    return 100 if bounds == SHARE else 1


def score_label(metric: Metric) -> str:
    """Returns the name of an axis of scores."""
    return f"{metric.name} (%)" if metric.bounds == SHARE else metric.name


def name(text: str) -> str:
    """Returns a name in one line that fits a figure; the end of a model's name says more than its beginning."""
    line = one_line(text)
    return line if len(line) <= LONGEST else f"...{line[-LONGEST:]}"
