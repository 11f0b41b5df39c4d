"""Charts in rows of a page: points and intervals on one scale."""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from markupsafe import Markup, escape

from afrieval._util.terminal import one_line
from afrieval.report.values import SHARE, Bounds, Point, shown_interval, shown_score

WIDTH, EDGE, LINE = 260, 12, 9  # pixels; lines are of points below each other
LEAST_HEIGHT = 30  # a row's height
SHAPES = {
    "dot": '<circle class="{kind}" cx="{x:.1f}" cy="{y:.1f}" r="4.5"/>',
    "line": '<path class="{kind}" d="M{x:.1f} {top:.1f}v11"/>',
    "diamond": '<path class="{kind}" d="M{x:.1f} {top:.1f}l5.5 5.5l-5.5 5.5l-5.5-5.5z"/>',
}


class Look(NamedTuple):
    """How a mark looks, and what it is called in the head of a column.

    Attributes:
        shape: one of `SHAPES`.
        kind: its class, such as `first` or `second`, which gives its colour.
    """

    shape: str
    kind: str
    name: str


PROMPTS = Look("dot", "first", "English"), Look("diamond", "second", "native")
PUBLISHED = Look("dot", "hollow", "published")
MEAN = Look("line", "mean", "mean")
CHANCE, UNREAD = Look("line", "chance", "random guess"), Look("line", "unread", "without reading")


def chance_line(chance: float, bounds: Bounds) -> dict[str, float]:
    """Returns the line at the share that a guess has, as `strip` takes it; empty where nothing can be guessed."""
    return {} if math.isnan(chance) or math.isinf(bounds[1]) else {CHANCE.kind: chance * bounds[1]}


class Scale(NamedTuple):
    """The values at the left and right edge of all charts of a column, and round numbers between them."""

    low: float
    high: float
    ticks: list[float]

    def x(self, value: float) -> float:
        """Returns where a value is, in pixels."""
        return EDGE + (WIDTH - 2 * EDGE) * min(1.0, max(0.0, (value - self.low) / (self.high - self.low)))


def scale(values: Iterable[float]) -> Scale:
    """Returns a scale that has all values, and at least two round numbers."""
    finite = [value for value in values if math.isfinite(value)]
    low, high = min(finite), max(finite)
    if high - low < 1e-9:  # ticks have twelve places
        size = max(abs(low), abs(high))
        room = (size if size > 1e-6 else 1.0) / 20
        low, high = low - room if low < 0 else max(low - room, 0.0), high + room
    power = 10 ** math.floor(math.log10((high - low) / 5))
    step = next(power * factor for factor in (1, 2, 5, 10) if power * factor >= (high - low) / 5)
    low, high = (low, high) if high - low >= 2 * step else (low - step / 2, high + step / 2)
    return Scale(low, high, [round(step * at, 12) for at in range(math.ceil(low / step), math.floor(high / step) + 1)])


def in_words(point: Point, bounds: Bounds) -> str:
    """Returns a point's value and its interval, such as 40.0 (95% CI 30.9-49.8)."""
    interval = f" (95% CI {shown_interval(point.interval, bounds)})" if point.interval else ""
    return f"{shown_score(point.value, bounds)}{interval}"


def ends(points: Iterable[Point]) -> list[float]:
    """Returns all values of points, and the ends of their intervals."""
    return [value for point in points for value in (point.value, *(point.interval or ()))]


def axis(scale: Scale, bounds: Bounds, key: Sequence[Look] = ()) -> Markup:
    """Returns the head of a column of charts: what the marks in `key` are, above the numbers of the scale."""
    marks = "".join(
        f'<span class="key"><svg aria-hidden="true" class="strip" width="12" height="12">'
        f"{SHAPES[shape].format(kind=kind, x=6.0, y=6.0, top=0.5)}</svg>{escape(name)}</span>"
        for shape, kind, name in key
    )
    factor = 100 if bounds == SHARE else 1  # numbers are in full, however small: neighbours must differ
    numbers = "".join(f'<text x="{scale.x(t):.1f}" y="11">{factor * t:.6g}</text>' for t in scale.ticks)
    svg = f'<svg aria-hidden="true" class="strip whole" viewBox="0 0 {WIDTH} 14" width="{WIDTH}">{numbers}</svg>'
    return Markup(f'<span class="unseen">chart</span>{marks}{svg}')


def strip(
    points: Sequence[tuple[Look, Point]],
    scale: Scale,
    says: str,
    joined: bool = False,
    lines: Mapping[str, float] | None = None,
) -> Markup:
    """Returns the chart: a line for each point, from top to bottom.

    `says` is the chart in words; `lines` has a class and the value that its line marks over all points.
    """
    height = max(LEAST_HEIGHT, LINE * len(points) + 6)
    levels = [height / 2 + LINE * (at - (len(points) - 1) / 2) for at in range(len(points))]
    centres = [(scale.x(point.value), y) for (_, point), y in zip(points, levels, strict=True)]
    parts = [f'<path class="grid" d="M{scale.x(tick):.1f} 0v{height}"/>' for tick in scale.ticks]
    if joined:
        (x, y), (to_x, to_y) = centres[0], centres[-1]
        parts.append(f'<path class="joint" d="M{x:.1f} {y:.1f}L{to_x:.1f} {to_y:.1f}"/>')
    parts += [f'<path class="{of}" d="M{scale.x(at):.1f} 2v{height - 4}"/>' for of, at in (lines or {}).items()]
    for (look, point), (x, y) in zip(points, centres, strict=True):
        if point.interval:
            low, high = map(scale.x, point.interval)
            parts.append(f'<path class="range {look.kind}" d="M{low:.1f} {y:.1f}H{high:.1f}"/>')
        parts.append(SHAPES[look.shape].format(kind=look.kind, x=x, y=y, top=y - 5.5))
    return Markup(
        f'<svg role="img" class="strip whole" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" '
        f'aria-label="{escape(one_line(says))}">'
        f"{''.join(parts)}</svg>"
    )


class ChartRow(NamedTuple):
    """A chart's points, the chart in words, and the values that lines mark, by the kind of their look."""

    points: Sequence[tuple[Look, Point]]
    says: str
    lines: Mapping[str, float]


def named_points(points: Sequence[tuple[Look, Point]], bounds: Bounds) -> str:
    """Returns points in words, each with the name of its look."""
    return ", ".join(f"{look.name} {in_words(point, bounds)}" for look, point in points)


def chart_column(rows: Sequence[ChartRow], bounds: Bounds, joined: bool = True) -> tuple[Markup, list[Markup]]:
    """Returns the head of a column of charts, and the charts, all on one scale.

    The head names looks of points where there are several; `joined` is whether a line joins the points of a row.
    """
    shared = scale(value for row in rows for value in (*ends(p for _, p in row.points), *row.lines.values()))
    looks = [look for look in (*PROMPTS, PUBLISHED) if any(look is used for row in rows for used, _ in row.points)]
    lines = [look for look in (MEAN, CHANCE, UNREAD) if any(look.kind in row.lines for row in rows)]
    head = axis(shared, bounds, [*(looks if len(looks) > 1 else ()), *lines])
    return head, [strip(row.points, shared, row.says, joined and len(row.points) > 1, row.lines) for row in rows]
