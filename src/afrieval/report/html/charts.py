"""Charts in pages: strips of points and intervals, and heat maps of languages against models."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from markupsafe import Markup, escape

from afrieval._util.grouping import grouped
from afrieval._util.terminal import one_line
from afrieval.analysis.best import LanguageEntry
from afrieval.analysis.ranks import Rank
from afrieval.languages import LANGUAGES
from afrieval.report.html.frame import place
from afrieval.report.html.tables import MatrixCell, MatrixRow, matrix
from afrieval.report.score_tables import DEFECTIVE, note_on
from afrieval.report.values import SHARE, Bounds, shown_interval, shown_rank, shown_score
from afrieval.scoring.statistics.intervals import Interval

WIDTH, EDGE, LINE = 260, 12, 9  # pixels; lines are of points below each other
LEAST_HEIGHT = 30  # a row's height
SHAPES = {
    "dot": '<circle class="{kind}" cx="{x:.1f}" cy="{y:.1f}" r="4.5"/>',
    "line": '<path class="{kind}" d="M{x:.1f} {top:.1f}v11"/>',
    "diamond": '<path class="{kind}" d="M{x:.1f} {top:.1f}l5.5 5.5l-5.5 5.5l-5.5-5.5z"/>',
}


class Point(NamedTuple):
    """A value on the scale.

    Attributes:
        kind: class of the mark, such as `first` or `second`, which gives its colour.
        shape: one of `SHAPES`.
    """

    value: float
    kind: str
    shape: str
    interval: Interval | None = None


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
    known = [value for value in values if math.isfinite(value)]
    low, high = min(known), max(known)
    if high - low < 1e-9:  # ticks have twelve places
        size = max(abs(low), abs(high))
        room = (size if size > 1e-6 else 1.0) / 20
        low, high = low - room if low < 0 else max(low - room, 0.0), high + room
    power = 10 ** math.floor(math.log10((high - low) / 5))
    step = next(power * factor for factor in (1, 2, 5, 10) if power * factor >= (high - low) / 5)
    low, high = (low, high) if high - low >= 2 * step else (low - step / 2, high + step / 2)
    return Scale(low, high, [round(step * at, 12) for at in range(math.ceil(low / step), math.floor(high / step) + 1)])


KEY = (("dot", "first", "English"), ("diamond", "second", "native"))  # of prompts


def in_words(point: Point, bounds: Bounds) -> str:
    """Returns a point's value and its interval, such as 40.0 (95% CI 30.9-49.8)."""
    interval = f" (95% CI {shown_interval(point.interval, bounds)})" if point.interval else ""
    return f"{shown_score(point.value, bounds)}{interval}"


def ends(points: Iterable[Point]) -> list[float]:
    """Returns all values of points, and the ends of their intervals."""
    return [value for point in points for value in (point.value, *(point.interval or ()))]


def axis(scale: Scale, bounds: Bounds, key: Sequence[tuple[str, str, str]] = ()) -> Markup:
    """Returns the head of a column of charts: what the marks are, above the numbers of the scale.

    `key` has a shape, a class and a name for each mark.
    """
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
    points: Sequence[Point], scale: Scale, says: str, joined: bool = False, lines: Mapping[str, float] | None = None
) -> Markup:
    """Returns the chart: a line for each point, from top to bottom.

    `says` is the chart in words; `lines` has a class and the value that its line marks over all points.
    """
    height = max(LEAST_HEIGHT, LINE * len(points) + 6)
    levels = [height / 2 + LINE * (at - (len(points) - 1) / 2) for at in range(len(points))]
    places = [(scale.x(point.value), y) for point, y in zip(points, levels, strict=True)]
    parts = [f'<path class="grid" d="M{scale.x(tick):.1f} 0v{height}"/>' for tick in scale.ticks]
    if joined:
        (x, y), (to_x, to_y) = places[0], places[-1]
        parts.append(f'<path class="joint" d="M{x:.1f} {y:.1f}L{to_x:.1f} {to_y:.1f}"/>')
    parts += [f'<path class="{of}" d="M{scale.x(at):.1f} 2v{height - 4}"/>' for of, at in (lines or {}).items()]
    for point, (x, y) in zip(points, places, strict=True):
        if point.interval:
            low, high = map(scale.x, point.interval)
            parts.append(f'<path class="range {point.kind}" d="M{low:.1f} {y:.1f}H{high:.1f}"/>')
        parts.append(SHAPES[point.shape].format(kind=point.kind, x=x, y=y, top=y - 5.5))
    return Markup(
        f'<svg role="img" class="strip whole" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" '
        f'aria-label="{escape(one_line(says))}">'
        f"{''.join(parts)}</svg>"
    )


STEPS = 10  # classes h0 to h9 of the style
MARKS = (
    "★: the highest of a row; ≈: cannot be told apart from it (5%, all pairs of models, Holm). Scores that are not "
    "above what is possible without reading have no mark."
)
LEAST_SPREAD = 0.1  # of a metric's range: scores that are closer than this are coloured alike

Columns = Mapping[str, Mapping[str, LanguageEntry]]


def heat(title: str, columns: Columns, bounds: Bounds, about: Mapping[str, Mapping[str, str]], task: str) -> Markup:
    """Returns the heat map of a task.

    `about` says what each column is about, as `place` takes it.
    """
    entries = [entry for of_column in columns.values() for entry in of_column.values()]
    span = _span(entries, bounds)
    codes = dict.fromkeys(code for of_column in columns.values() for code in of_column)
    defects = {entry.score.language: entry.score.defect for entry in entries if entry.score.defect}

    def line(code: str) -> MatrixRow:
        cells = [_cell(of.get(code), span, bounds, about[name]) for name, of in columns.items()]
        mark = DEFECTIVE if code in defects else ""
        return MatrixRow(f"{family_and_name(code)[1]}{mark}", cells, place({"language": code}))

    heads = [(name, place(about[name])) for name in columns]
    notes = ["Point at a score, or choose “Intervals”, for its 95% interval."]
    if any(_mark(entry) for entry in entries):
        notes.append(MARKS)
    notes += [note_on(code, defect) for code, defect in defects.items()]
    return matrix(title, "language", heads, by_family(codes, line), notes, place({"task": task}))


def by_family(
    codes: Sequence[str] | Mapping[str, None], line: Callable[[str], MatrixRow]
) -> dict[str, list[MatrixRow]]:
    """Returns the rows of languages under their families."""
    families = grouped(sorted(codes, key=family_and_name), lambda code: family_and_name(code)[0])
    return {family: [line(code) for code in of_family] for family, of_family in families.items()}


def _span(entries: Sequence[LanguageEntry], bounds: Bounds) -> tuple[float, float]:
    """Returns the scores of the palest and of the darkest colour: from chance, or the lowest score possible, up."""
    scores = [entry.score.score for entry in entries]
    low, high = bounds
    chances = [entry.score.chance for entry in entries if not math.isnan(entry.score.chance)]
    start = min(chances) if chances and bounds == SHARE else low if math.isfinite(low) else min(scores)
    least = LEAST_SPREAD * (high - low) if math.isfinite(high - low) else 0.0
    return start, max(*scores, start + least)


def _cell(
    entry: LanguageEntry | None, span: tuple[float, float], bounds: Bounds, about: Mapping[str, str]
) -> MatrixCell:
    if entry is None:
        return MatrixCell(place=place(about))
    score = entry.score
    unread = "" if score.best_baseline is None else f"without reading {shown_score(score.best_baseline)}"
    return heat_cell(score.score, score.interval, score.n, entry.rank, span, bounds, about, _mark(entry), after=unread)


def heat_cell(
    score: float,
    interval: Interval | None,
    n: int | None,
    rank: Rank | None,
    span: tuple[float, float],
    bounds: Bounds,
    about: Mapping[str, str],
    mark: str = "",
    before: str = "",
    after: str = "",
) -> MatrixCell:
    """Returns a score as a cell of a matrix.

    `span` has the scores of the palest and of the darkest colour, `mark` is one of `tables.SIGNS`, and `before` and
    `after` are said first and last when the cell is pointed at.
    """
    shown = shown_interval(interval, bounds) if interval else ""
    placed = f"rank {shown_rank(rank)}" if rank else ""
    parts = (before, shown and f"95% CI {shown}", f"n = {n}" if n else "", placed, after)
    says, shade = ", ".join(filter(None, parts)), f"h{step(score, span)}"
    return MatrixCell(shown_score(score, bounds), shown, says, shade, mark, round(score, 6), place(about))


def _mark(entry: LanguageEntry) -> str:
    if entry.rank is None or entry.floor:
        return ""
    return "best" if entry.is_highest else "alike" if entry.rank.first == 1 else ""


def step(score: float, span: tuple[float, float]) -> int:
    """Returns the number of a score's colour, between the palest and the darkest."""
    low, high = span
    return max(0, min(STEPS - 1, int(STEPS * (score - low) / (high - low)))) if high > low else 0


def family_and_name(code: str) -> tuple[str, str]:
    """Returns a language's family and name, by which languages are sorted."""
    known = LANGUAGES.get(code)
    return (known.family, known.name) if known else ("other", code)
