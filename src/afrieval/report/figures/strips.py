"""A panel of a figure: a row for each language, with a mark and an interval for each side."""

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from afrieval._util.terminal import one_line
from afrieval.report.figures.style import BROAD, GREY, GROUND, LINE, PALE, ROOM, THICK, Mark
from afrieval.report.values import SHARE, Bounds, Point, language_name
from afrieval.scoring.base import Metric

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LONGEST = 40  # characters of a name


class Series(NamedTuple):
    """What has one mark in all rows.

    Attributes:
        hollow: whether its marks are not filled.
    """

    name: str
    points: Mapping[str, Point]
    mark: Mark
    hollow: bool = False


class Strip(NamedTuple):
    """The rows of a panel on one scale.

    Attributes:
        series: what is drawn; its marks are below each other in a row, or at one height.
        label: below the scale.
        joined: whether a line joins the marks of a row.
        level: whether all marks of a row are at one height.
        line: a value that a line marks over all rows, dotted unless it is 0; NaN for none.
        bars: values that a line marks over the row of a language.
        means: values with intervals behind the marks, by language.
    """

    series: Sequence[Series]
    bounds: Bounds
    label: str
    joined: bool = False
    level: bool = False
    line: float = float("nan")
    bars: Mapping[str, float] = {}
    means: Mapping[str, Point] = {}


class Panel(NamedTuple):
    """A part of a figure.

    Attributes:
        title: what distinguishes it from others; empty if it is the only one.
        codes: languages, from top to bottom.
        starred: languages with unreviewed native prompts.
        marks: most marks in a row.
    """

    title: str
    codes: Sequence[str]
    starred: Collection[str]
    strips: Sequence[Strip]
    marks: int = 1


class Content(NamedTuple):
    """What a figure shows.

    Attributes:
        key: what its marks mean; empty if there is only one.
        notes: sentences below it.
        widths: shares of the strips of a panel in its width.
    """

    panels: Sequence[Panel]
    key: Sequence[Series]
    notes: Sequence[str]
    widths: Sequence[float] = (1,)


def height(panel: Panel) -> float:
    """Returns the height of a panel in inches."""
    return ROOM + LINE * len(panel.codes) * max(1.0, 0.5 * panel.marks)


def draw_panel(panel: Panel, all_axes: "Sequence[Axes]") -> None:
    """Draws a panel on axes that stand next to each other; the first names the rows."""
    names = [f"{language_name(code)}{'*' if code in panel.starred else ''}" for code in panel.codes]
    for axes, strip in zip(all_axes, panel.strips, strict=True):
        _draw_strip(axes, panel.codes, strip)
        axes.set_yticks(range(len(names)), names if axes is all_axes[0] else [""] * len(names))
        axes.set_ylim(len(names) - 0.5, -0.5)
        for row in range(1, len(names), 2):  # a faint ground leads the eye
            axes.axhspan(row - 0.5, row + 0.5, color=GROUND, linewidth=0, zorder=0)
        axes.set_xlabel(strip.label)


def _draw_strip(axes: "Axes", codes: Sequence[str], strip: Strip) -> None:
    factor = 100 if strip.bounds == SHARE else 1  # shares are in percent, as in tables
    step = 0 if strip.level or len(strip.series) == 1 else min(0.7 / len(strip.series), 0.22)
    shifts = [(number - (len(strip.series) - 1) / 2) * step for number in range(len(strip.series))]
    for row, code in enumerate(codes):
        if code in strip.means:
            mean, interval = strip.means[code]
            if interval is not None:
                axes.plot([end * factor for end in interval], [row, row], color=PALE, linewidth=BROAD, zorder=1)
            axes.plot(mean * factor, row, "|", color="black", markersize=BROAD, zorder=2)
        if code in strip.bars:
            bar = strip.bars[code] * factor
            axes.plot([bar, bar], [row - 0.4, row + 0.4], color=GREY, linewidth=THICK, zorder=1)
        drawn = [(one, row + shift) for one, shift in zip(strip.series, shifts, strict=True) if code in one.points]
        for one, y in drawn:
            value, interval = one.points[code]
            shape, colour, size = one.mark
            if interval is not None:
                axes.plot([end * factor for end in interval], [y, y], color=colour, linewidth=THICK, zorder=2)
            axes.plot(
                value * factor, y, shape, markersize=size, markerfacecolor="white" if one.hollow else colour,
                markeredgecolor=colour, markeredgewidth=THICK, zorder=3,
            )  # fmt: skip
        if strip.joined:
            ends = [one.points[code][0] * factor for one, _ in drawn]
            axes.plot(ends, [y for _, y in drawn], color=GREY, linewidth=THICK, zorder=2)
    if strip.line == strip.line:  # not NaN
        look: dict[str, Any] = {"color": GREY, "linestyle": ":"} if strip.line else {"color": "black"}
        axes.axvline(strip.line * factor, linewidth=THICK, zorder=1, **look)


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


def score_label(metric: Metric) -> str:
    """Returns the name of an axis of scores."""
    return f"{metric.name} (%)" if metric.bounds == SHARE else metric.name


def name(text: str) -> str:
    """Returns a name in one line that fits a figure; the end of a model's name says more than its beginning."""
    line = one_line(text)
    return line if len(line) <= LONGEST else f"...{line[-LONGEST:]}"
