"""The overview: how good each model is, in which language."""

from markupsafe import Markup

from afrieval.analysis.inputs import Inputs
from afrieval.analysis.scores import by_language
from afrieval.grouping import grouped
from afrieval.pages.heat import Spot, heat
from afrieval.pages.tables import table_html
from afrieval.report.comparison import mean_tables
from afrieval.report.dimensions import named, varying
from afrieval.report.values import titled
from afrieval.results.scores import CellScores


def overview(given: Inputs) -> Markup:
    """Returns means over languages and a heat map for each task."""
    cells = [*given.own, *given.foreign]
    parts = []
    for of_task in grouped((c for c in cells if c.n), lambda c: c.task).values():
        parts += [_heat(of_task), *map(table_html, mean_tables(of_task, ["Africa"]))]
    return Markup("").join(parts)


def _heat(cells: list[CellScores]) -> Markup:
    """Returns the heat map of a task's cells."""
    places = [d for d in varying([c.dimensions for c in cells]) if d != "language"]
    sides = grouped(cells, lambda c: ", ".join(named(c.dimensions, d) for d in places) or c.model)
    spots = [
        Spot(score.language, side, score.score, score.interval, score.n)
        for side, of_side in sides.items()
        for score in by_language(of_side)
    ]
    metric, task = cells[0].metric, cells[0].task
    models = {side: of_side[0].model for side, of_side in sides.items()}
    return heat(titled(task, metric), spots, metric.bounds, task, models)
