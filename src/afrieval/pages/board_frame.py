"""What all pages of a leaderboard share: the frame, tables with charts, filters and counts."""

import importlib.metadata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from markupsafe import Markup

from afrieval.analysis.boards import Leaderboard
from afrieval.analysis.entrants import TaskEntries
from afrieval.analysis.standings import Board, Standing
from afrieval.languages import LANGUAGES
from afrieval.pages.shell import page
from afrieval.pages.strips import Point, axis, ends, scale, strip
from afrieval.pages.tables import Links, table_html
from afrieval.report.boards import average_tables
from afrieval.report.suites import PERCENT
from afrieval.report.table import Table
from afrieval.report.values import Bounds, shown_interval, shown_score
from afrieval.report.words import language_name
from afrieval.terminal import brief

TITLE = "Leaderboard"
View = tuple[str, str, Markup]  # name in the address, title and content
Charted = tuple[Table, Sequence[Standing], Bounds]  # a table, its rows, and their scale


def framed(
    board: Leaderboard, title: str, subtitle: str, views: Sequence[View], filters: Mapping[str, Mapping[str, str]]
) -> bytes:
    """Returns a page as UTF-8.

    Args:
        board: what it is from.
        title: its heading.
        subtitle: below it.
        views: those without content are left out.
        filters: name to values and their texts.
    """
    published = any(entrant.published for entrant in board.entrants)
    return page(
        "leaderboard.html",
        title=brief(title),
        subtitle=subtitle,
        crumbs=[] if title == TITLE else [(TITLE, "../index.html")],
        views=[{"name": name, "title": text, "content": content} for name, text, content in views if content],
        filters={name: values for name, values in filters.items() if len(values) > 1},
        version=importlib.metadata.version("afrieval"),
        about="Faint rows and diamonds are published scores." if published else "",
    )


def averages_of(boards: Iterable[Board], tasks: Sequence[TaskEntries]) -> Iterator[Charted]:
    """Yields the tables of averages, each with those that lack some of its pairs after it."""
    for board in boards:
        sides = [[s for s in board.standings if s.whole == whole] for whole in (True, False)]
        tables = average_tables(board, tasks)
        yield from ((table, side, PERCENT) for table, side in zip(tables, filter(None, sides), strict=True))


def tables_html(tables: Iterable[Charted], links: Links) -> Markup:
    """Returns tables with a chart of scores and intervals; of each note, only the first is shown."""
    seen: set[str] = set()
    found = []
    for table, standings, bounds in tables:
        notes = [note for note in table.notes if note not in seen]
        seen.update(notes)
        found.append(table_html(replace(table, notes=notes), _charts(standings, bounds), links=links))
    return Markup("").join(found)


def _charts(standings: Sequence[Standing], bounds: Bounds) -> dict[str, list[Markup]]:
    """Returns a chart per row, all on one scale; none where no interval is known."""
    if not any(standing.interval for standing in standings):
        return {}
    points = [_point(standing) for standing in standings]
    shared = scale(ends(points))
    kinds = {point.kind: point.shape for point in points}
    key = [(shape, kind, "run" if kind == "first" else "published") for kind, shape in sorted(kinds.items())]
    charts = [strip([point], shared, _says(s, bounds)) for point, s in zip(points, standings, strict=True)]
    return {axis(shared, bounds, key if len(key) > 1 else []): charts}


def _point(standing: Standing) -> Point:
    kind, shape = ("second", "diamond") if standing.entrant.published else ("first", "dot")
    return Point(standing.score, kind, shape, standing.interval)


def _says(standing: Standing, bounds: Bounds) -> str:
    interval = f", 95% interval {shown_interval(standing.interval, bounds)}" if standing.interval else ""
    return f"{shown_score(standing.score, bounds)}{interval}"


def filters_of(codes: Iterable[str], models: Iterable[str]) -> dict[str, dict[str, str]]:
    """Returns the filters by language, family and model."""
    order = sorted(codes, key=language_name)
    families = sorted({LANGUAGES[code].family for code in order if code in LANGUAGES})
    return {
        "language": {code: language_name(code) for code in order},
        "family": {name: name for name in families},
        "model": {model: brief(model) for model in models},
    }


def counted(found: Iterable[object], word: str) -> str:
    """Returns a number of things in words."""
    n = len(list(found))
    return f"{n} {word}{'' if n == 1 else 's'}"
