"""English against native prompts: a dumbbell per language, sorted by difference."""

from collections.abc import Mapping, Sequence
from itertools import chain

from markupsafe import Markup

from afrieval.analysis.compared import all_contrasts
from afrieval.analysis.contrasts import Contrast, Row
from afrieval.analysis.inputs import Inputs
from afrieval.grouping import grouped
from afrieval.pages.heat import by_family, family_and_name
from afrieval.pages.matrix import Cell, Line, matrix
from afrieval.pages.places import place
from afrieval.pages.shell import fragment
from afrieval.pages.strips import Point, Scale, axis, ends, scale, strip
from afrieval.pages.tables import table_html
from afrieval.report.contrasts import LEGEND
from afrieval.report.native import by_difference, findings, native_tables, side_of, verdict
from afrieval.report.table import Column, Table, shown
from afrieval.report.values import SHARE, Bounds, bounds_of, shown_change, shown_interval, shown_score
from afrieval.report.verdicts import withheld
from afrieval.results.scores import CellScores

SEED = 42  # of bootstrap and permutations, as in `afrieval compare`
KEY = (("dot", "first", "English"), ("diamond", "second", "native"))
UNITS = {True: ", in percentage points", False: ""}


def native(given: Inputs) -> Markup:
    """Returns where native prompts help, and a table with a chart for each task and model."""
    cells = [*given.own, *given.foreign]
    found = all_contrasts(cells, given.foreign, ["prompt_language"], SEED) if cells else []
    of_tasks = grouped((by_difference(c) for c in found if c.rows), lambda c: c.task)
    said = [(place({"task": task}), text) for task, of in of_tasks.items() for text in findings(task, of)]
    content = [fragment("findings.html", findings=said)] if said else []
    for of_task in of_tasks.values():
        content += _of_task(of_task, cells)
    return Markup("").join(content)


def _of_task(found: list[Contrast], cells: list[CellScores]) -> list[Markup]:
    points = [_points(row) for contrast in found for row in contrast.rows]
    bounds = bounds_of(found[0].metric)
    of_charts = scale(chain.from_iterable(map(ends, points)))
    head = axis(of_charts, bounds, KEY)
    tables = native_tables(cells, found)
    content = [_differences(found, bounds)] if len(found) > 1 else []
    content += [
        table_html(table, {head: _charts(c, table, of_charts, bounds)}) for c, table in zip(found, tables, strict=True)
    ]
    legend = f"{LEGEND.format(unit=UNITS[bounds == SHARE])} Lines in the chart are 95% intervals."
    return [*content, fragment("notes.html", notes=[legend], place=place({"task": found[0].task}))]


def _points(row: Row) -> list[Point]:
    intervals = [side.interval for side in row.sides]
    values = zip((row.first, row.second), intervals, KEY, strict=True)
    return [Point(value, kind, shape, interval) for value, interval, (shape, kind, _) in values]


def _charts(contrast: Contrast, table: Table, of_charts: Scale, bounds: Bounds) -> list[Markup]:
    names = [cells[0] for cells in table.cells()]
    charts = []
    for name, row in zip(names, contrast.rows, strict=True):
        points = _points(row)
        said = [
            f"{word} {shown_score(point.value, bounds)}"
            + (f" ({shown_interval(point.interval, bounds)})" if point.interval else "")
            for point, (_, _, word) in zip(points, KEY, strict=True)
        ]
        charts.append(strip(points, of_charts, f"{name}: {', '.join(said)}", joined=True))
    return charts


def _differences(found: Sequence[Contrast], bounds: Bounds) -> Markup:
    """Returns all differences of a task: languages against models."""
    rows = [{row.language: row for row in contrast.rows} for contrast in found]
    about = [{"model": str(contrast.fixed.get("model", ""))} for contrast in found]
    columns = [(side_of(contrast), place(of)) for contrast, of in zip(found, about, strict=True)]

    def line(code: str) -> Line:
        cells = [
            _cell(of.get(code), contrast, bounds, of_column)
            for of, contrast, of_column in zip(rows, found, about, strict=True)
        ]
        return Line(family_and_name(code)[1], cells, place({"language": code}))

    codes = dict.fromkeys(code for of in rows for code in of)
    notes = [
        f"Native minus English{UNITS[bounds == SHARE]}. ▲: native prompts help; ▼: they hurt "
        "(5%, all languages at once)."
    ]
    title = f"{found[0].task}: what native prompts change"
    return matrix(title, "language", columns, by_family(codes, line), notes, place({"task": found[0].task}))


def _cell(row: Row | None, contrast: Contrast, bounds: Bounds, about: Mapping[str, str]) -> Cell:
    if row is None:
        return Cell(place=place(about))
    mark = {1: "up", -1: "down"}.get(verdict(row, contrast.metric) or 0, "")
    interval = shown(row.interval, Column("", "changes", "", bounds))
    says = f"95% CI {interval}, n = {row.n}{f', {why}' if (why := withheld(row, bounds)) else ''}"
    return Cell(shown_change(row.difference, bounds), interval, says, "", mark, round(row.difference, 6), place(about))
