"""What the choice of the prompt does: a strip per language, with each prompt's score."""

from dataclasses import replace
from itertools import chain

from markupsafe import Markup

from afrieval.analysis.inputs import Inputs
from afrieval.analysis.spread import Spread, spreads
from afrieval.grouping import grouped
from afrieval.pages.places import place
from afrieval.pages.shell import fragment
from afrieval.pages.strips import Point, Scale, axis, ends, scale, strip
from afrieval.pages.tables import table_html
from afrieval.report.comparison import spread_table
from afrieval.report.defects import defects_of, marked
from afrieval.report.options import naming_rows
from afrieval.report.spread import findings
from afrieval.report.values import Bounds, shown_interval, shown_score
from afrieval.results.scores import CellScores

NOTE = (
    "Each line of a chart is a prompt with its 95% interval, in order of their numbers; the vertical bar is the mean."
)


def prompts(given: Inputs) -> Markup:
    """Returns for each task with several prompts a table with a chart."""
    of_tasks = grouped((c for c in [*given.own, *given.foreign] if c.n), lambda c: (c.task, c.main)).values()
    found = [(of_task, of) for of_task in of_tasks if (of := spreads(of_task))]
    said = [
        (place({"task": cells[0].task}), text)
        for cells, of in found
        for text in findings(cells[0].task, of, cells[0].metric)
    ]
    content = [fragment("findings.html", findings=said)] if said else []
    return Markup("").join([*content, *(_of_task(*pair) for pair in found)])


def _of_task(cells: list[CellScores], found: list[Spread]) -> Markup:
    bounds = cells[0].metric.bounds
    of_charts = scale(chain.from_iterable(ends(_points(spread)) for spread in found))
    (table,) = naming_rows([spread_table(cells[0].task, found, cells[0].metric)], cells)
    table = marked(table, defects_of(cells))
    charts = [_chart(spread, of_charts, bounds) for spread in found]
    return table_html(replace(table, notes=[NOTE, *table.notes]), {axis(of_charts, bounds): charts})


def _points(spread: Spread) -> list[Point]:
    return [Point(cell.score, "first", "dot", cell.interval) for cell in spread.cells]


def _chart(spread: Spread, of_charts: Scale, bounds: Bounds) -> Markup:
    points = _points(spread)
    said = [
        f"prompt {prompt}: {shown_score(point.value, bounds)}"
        + (f" ({shown_interval(point.interval, bounds)})" if point.interval else "")
        for prompt, point in zip(spread.prompts, points, strict=True)
    ]
    return strip(points, of_charts, "; ".join(said), lines={"mean": spread.mean})
