"""A chart in a table's row: points and intervals on one scale, as SVG with a name for screen readers."""

from collections.abc import Sequence
from typing import NamedTuple

from markupsafe import Markup, escape

from afrieval.statistics.intervals import Interval
from afrieval.terminal import one_line

WIDTH, HEIGHT, EDGE = 240, 26, 8
SHAPES = {
    "dot": '<circle class="{kind}" cx="{x:.1f}" cy="{y}" r="4.5"/>',
    "diamond": '<path class="{kind}" d="M{x:.1f} {top}l5.5 5.5l-5.5 5.5l-5.5-5.5z"/>',
    "tick": '<path class="{kind}" d="M{x:.1f} {top}v11"/>',
}


class Point(NamedTuple):
    """A value on the scale.

    Attributes:
        kind: class of the mark, such as `first` or `second`, which gives its colour.
        shape: one of `SHAPES`.
        interval: drawn as a line; None for none.
    """

    value: float
    kind: str
    shape: str
    interval: Interval | None = None


def strip(points: Sequence[Point], scale: tuple[float, float], says: str, joined: bool = False) -> Markup:
    """Returns the chart.

    Args:
        points: drawn in order.
        scale: values at the left and right edge.
        says: the chart in words.
        joined: whether a line joins the first and last point.
    """
    middle = HEIGHT // 2
    parts = (
        [f'<path class="joint" d="M{_x(points[0].value, scale):.1f} {middle}H{_x(points[-1].value, scale):.1f}"/>']
        if joined
        else []
    )
    for at, point in enumerate(points):
        y = middle + (0 if len(points) == 1 else 4 * (2 * at - len(points) + 1) / (len(points) - 1))
        if point.interval:
            low, high = (_x(edge, scale) for edge in point.interval)
            parts.append(f'<path class="range {point.kind}" d="M{low:.1f} {y:.1f}H{high:.1f}"/>')
        shape = SHAPES[point.shape].format(
            kind=point.kind, x=_x(point.value, scale), y=f"{y:.1f}", top=f"{y - 5.5:.1f}"
        )
        parts.append(shape)
    name = escape(one_line(says))
    return Markup(
        f'<svg role="img" class="strip" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}">'
        f"<title>{name}</title>{''.join(parts)}</svg>"
    )


def _x(value: float, scale: tuple[float, float]) -> float:
    low, high = scale
    share = (value - low) / (high - low) if high > low else 0.5
    return EDGE + (WIDTH - 2 * EDGE) * min(1.0, max(0.0, share))
