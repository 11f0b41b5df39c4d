"""English against native prompts, and what the choice of the prompt does."""

from collections.abc import Sequence
from dataclasses import replace

from markupsafe import Markup

from afrieval._util.grouping import grouped
from afrieval.analysis.contrasts import Contrast
from afrieval.analysis.differences import Difference
from afrieval.analysis.inputs import Inputs
from afrieval.analysis.run_contrasts import all_contrasts
from afrieval.analysis.scores import over_prompts
from afrieval.report.columns import Column, shown
from afrieval.report.comparison import spread_table
from afrieval.report.html.charts import MEAN, PROMPTS, ChartRow, chance_line, chart_column, in_words, named_points
from afrieval.report.html.frame import behind, filter_attributes, findings_html, fragment
from afrieval.report.html.tables import MatrixCell, MatrixRow, by_family, family_and_name, matrix, table_html
from afrieval.report.native import by_difference, findings, native_findings, native_tables, points_of, side_of, verdict
from afrieval.report.score_tables import defects_of, marked, naming_rows
from afrieval.report.values import SHARE, Bounds, Point, bounds_of, shown_change
from afrieval.report.verdict_words import withheld
from afrieval.results.cell_scores import CellScores
from afrieval.scoring.base import Metric

SEED = 42  # of bootstrap and permutations, as in `afrieval compare`


def native_contrasts(inputs: Inputs) -> list[Contrast]:
    """Returns what native prompts change in each task, of each model."""
    cells = inputs.cells
    return all_contrasts(cells, inputs.foreign, ["prompt_language"], SEED) if cells else []


def native(inputs: Inputs, contrasts: Sequence[Contrast]) -> Markup:
    """Returns where native prompts help, a matrix of all differences, and a table with a chart for each model."""
    of_tasks = grouped((by_difference(c) for c in contrasts if c.rows), lambda c: c.task)
    sentences = [
        (filter_attributes({"task": task}), text) for task, of in of_tasks.items() for text in native_findings(task, of)
    ]
    content = [findings_html("", sentences)]
    for of_task in of_tasks.values():
        content += _of_task_native(of_task, inputs.cells)
    return Markup("").join(content)


def _of_task_native(contrasts: list[Contrast], cells: list[CellScores]) -> list[Markup]:
    bounds = bounds_of(contrasts[0].metric)
    tables, rows = native_tables(cells, contrasts), list[ChartRow]()
    for contrast, table in zip(contrasts, tables, strict=True):
        for (name, *_), row in zip(table.cells(), contrast.rows, strict=True):
            points = list(zip(PROMPTS, points_of(row), strict=True))
            lines = chance_line(row.sides[0].cells[0].chance, bounds) if row.sides else {}
            rows.append(ChartRow(points, f"{name}: {named_points(points, bounds)}", lines))
    head, charts = chart_column(rows, bounds)  # on one scale, so that models can be compared
    content = [_differences(contrasts, bounds)] if len(contrasts) > 1 else []
    for contrast, table in zip(contrasts, tables, strict=True):
        of_contrast, charts = charts[: len(contrast.rows)], charts[len(contrast.rows) :]
        about = {"task": contrast.task, "model": contrast.fixed.get("model", "")}
        title = ", ".join(filter(None, (f"{contrast.task}: all numbers", side_of(contrast))))
        table = replace(table, findings=table.findings if len(contrasts) > 1 else [])  # one is the finding of the view
        content.append(behind(title, table_html(table, {head: of_contrast}), about, len(contrasts) == 1))
    legend = "Lines in the chart are 95% intervals."
    return [*content, fragment("notes.html", notes=[legend], attributes=filter_attributes({"task": contrasts[0].task}))]


def _differences(contrasts: Sequence[Contrast], bounds: Bounds) -> Markup:
    """Returns a matrix of what native prompts change: languages in rows, models and their settings in columns."""
    columns = [(c, {row.language: row for row in c.rows}, {"model": str(c.fixed.get("model", ""))}) for c in contrasts]

    def cell(row: Difference | None, metric: Metric | None, attributes: Markup) -> MatrixCell:
        if row is None:
            return MatrixCell(attributes=attributes)
        interval, why = shown(row.interval, Column("", "changes", "", bounds)), withheld(row, bounds)
        says = f"95% CI {interval}, n = {row.n}{f', {why}' if why else ''}"
        mark = {1: "up", -1: "down"}.get(verdict(row, metric) or 0, "")
        change, key = shown_change(row.difference, bounds), round(row.difference, 6)
        return MatrixCell(change, interval, says, "", mark, key, attributes)

    def line(code: str) -> MatrixRow:
        cells = [cell(rows.get(code), c.metric, filter_attributes(about)) for c, rows, about in columns]
        return MatrixRow(family_and_name(code)[1], cells, filter_attributes({"language": code}))

    codes = dict.fromkeys(code for _, rows, _ in columns for code in rows)
    heads = [(side_of(contrast), filter_attributes(about)) for contrast, _, about in columns]
    note = (
        f"Native minus English{', in percentage points' * (bounds == SHARE)}. ▲: native prompts help; ▼: they hurt "
        "(5%, all languages at once)."
    )
    title, about_task = f"{contrasts[0].task}: what native prompts change", {"task": contrasts[0].task}
    return matrix(title, "language", heads, by_family(codes, line), [note], filter_attributes(about_task))


NOTE = "Each line of a chart is a prompt with its 95% interval, in order of their numbers."


def prompts(inputs: Inputs) -> Markup:
    """Returns for each task with several prompts a table with a chart."""
    of_tasks = grouped((c for c in inputs.cells if c.n), lambda c: (c.task, c.main)).values()
    with_prompts = [(of_task, prompt_means) for of_task in of_tasks if (prompt_means := over_prompts(of_task))]
    sentences = [
        (filter_attributes({"task": cells[0].task}), text)
        for cells, prompt_means in with_prompts
        for text in findings(cells[0].task, prompt_means, cells[0].metric)
    ]
    content = [findings_html("", sentences)]
    for of_task, prompt_means in with_prompts:
        task, metric, rows = of_task[0].task, of_task[0].metric, []
        for mean in prompt_means:
            points = [Point(cell.score, cell.interval) for cell in mean.cells]
            pairs = zip(mean.cells, points, strict=True)
            says = "; ".join(f"prompt {cell.prompt}: {in_words(point, metric.bounds)}" for cell, point in pairs)
            lines = {MEAN.kind: mean.score, **chance_line(mean.cells[0].chance, metric.bounds)}
            rows.append(ChartRow([(PROMPTS[0], point) for point in points], says, lines))
        head, charts = chart_column(rows, metric.bounds, joined=False)
        (table,) = naming_rows([spread_table(task, prompt_means)], of_task)
        table = marked(table, defects_of(of_task))
        shown_table = table_html(replace(table, notes=[NOTE, *table.notes]), {head: charts})
        content.append(behind(f"{task}: all prompts", shown_table, {"task": task}, len(with_prompts) == 1))
    return Markup("").join(content)
