"""A section per language: scores of all models, what they are made of, and samples to read."""

from collections.abc import Sequence
from typing import Any

from markupsafe import Markup

from afrieval._util.grouping import grouped
from afrieval.analysis.inputs import Inputs
from afrieval.analysis.scores import LanguageScore
from afrieval.analysis.selected_samples import MOST, ShownDocuments, selections
from afrieval.analysis.subgroups import CONFUSION
from afrieval.analysis.tokenizer import fertilities
from afrieval.analysis.verdicts import by_quality
from afrieval.report.comparison import breakdown_tables
from afrieval.report.html.charts import CHANCE, PROMPTS, UNREAD, ChartRow, chance_line, chart_column, named_points
from afrieval.report.html.frame import filter_attributes, fragment
from afrieval.report.html.sample_views import RULE, samples_html
from afrieval.report.html.tables import by_prompts, family_and_name, table_html
from afrieval.report.language_tables import (
    cost_tables,
    fertility_tables,
    language_lines,
    language_table,
    published_tables,
)
from afrieval.report.score_tables import varying
from afrieval.report.values import Point, about_language, language_name, shown_score
from afrieval.results.cell_scores import CellScores

SAMPLES = 5_000_000  # bytes of all samples in a page
CARD = 4_000  # bytes that a sample should have, of which
FRAME = 1_500  # are not its texts
SHORTEST, LONGEST = 400, 6_000  # bytes of its texts
OTHERS = "Samples of other programs' runs are not shown."
NUMBERS = 20_000  # cells of all breakdowns in a page


def languages(inputs: Inputs) -> Markup:
    """Returns the sections, and tokens and cost of all languages in a table below them; nothing without scores."""
    cells = [c for c in inputs.cells if c.n]
    codes = dict.fromkeys([c.language for c in cells] + [code for row in inputs.published for code in row.scores])
    if not codes:
        return Markup()
    n_sides = max(1, len({(c.task, c.language, c.model, c.shots, c.answer_form) for c in inputs.run_cells}))
    most = max(1, min(MOST, SAMPLES // (CARD * n_sides)))  # samples of each
    room = min(LONGEST, max(SHORTEST, SAMPLES // (most * n_sides) - FRAME))
    chosen = grouped(selections(inputs.run_cells, most), lambda s: (s.cells[0].task, s.cells[0].language))
    of_places = grouped(by_quality(cells), lambda c: (c.task, c.language))
    tasks = dict.fromkeys([c.task for c in cells] + [row.task for row in inputs.published])
    several = varying([c.dimensions for c in cells])
    sizes = {(c.task, c.language): sum(_sizes(c).values()) for c in cells}
    share = max(1, NUMBERS // max(1, sum(sizes.values())))  # sides with breakdowns, so that the page stays small
    sections = [
        fragment(
            "language.html",
            attributes=filter_attributes({"language": code, "when": "language" if len(codes) > 1 else ""}),
            code=code,
            name=language_name(code),
            about=about_language(code),
            tasks=[
                {
                    "attributes": filter_attributes({"task": task, "language": code}),
                    **_runs(of_places.get((task, code), []), chosen.get((task, code), []), several, share, room),
                    "published": [
                        table_html(table, level=4) for table in published_tables(inputs.published, task, code)
                    ],
                }
                for task in tasks
            ],
        )
        for code in sorted(codes, key=language_name)
    ]
    tables = [*fertility_tables(fertilities(inputs.run_cells)), *cost_tables(inputs.run_cells)]
    index = [
        (code, language_name(code), filter_attributes({"family": family_and_name(code)[0]}))
        for code in sorted(codes, key=language_name)
    ]
    rule = " ".join(([RULE] if chosen else []) + ([OTHERS] if inputs.foreign else []))
    return fragment("languages.html", sections=sections, index=index, rule=rule, tables=map(table_html, tables))


def _runs(
    cells: list[CellScores], chosen: list[ShownDocuments], several: list[str], share: int, room: int
) -> dict[str, list[Any]]:
    """Returns the scores of runs in a task and language, a table for each metric, what they are made of, and samples.

    Samples are in the order of the tables, the best model first.
    """
    scores, parts = [], []
    order: dict[tuple[Any, ...], int] = {}
    for of_metric in grouped(cells, lambda c: c.main).values():  # other programs may have another one
        lines = language_lines(of_metric)
        sides = [(_side(line), line.prompt_language) for line in lines]
        table, rows = by_prompts(language_table(lines, of_metric, several), sides)
        bounds, first = of_metric[0].metric.bounds, lines[rows[0][0]]
        marks = chance_line(first.chance, bounds)
        if first.best_baseline is not None and first.best_baseline > first.chance:
            marks[UNREAD.kind] = first.best_baseline
        looks = [look for look in (CHANCE, UNREAD) if look.kind in marks]
        of_marks = "".join(f", {look.name} {shown_score(marks[look.kind], bounds)}" for look in looks)
        chart_rows = []
        for of_row in ([lines[at] for at in of_row] for of_row in rows):
            points = [(PROMPTS[s.prompt_language == "native"], Point(s.score, s.interval)) for s in of_row]
            chart_rows.append(ChartRow(points, named_points(points, bounds) + of_marks, marks))
        scores.append(table_html(table, dict([chart_column(chart_rows, bounds)]), level=4))
        parts += _parts(of_metric, lines, share)
        for line in lines:
            order.setdefault(_side(line), len(order))
    samples = [samples_html(each, several, room) for each in sorted(chosen, key=lambda s: order[_side(s.cells[0])])]
    return {"scores": scores, "parts": parts, "samples": samples}


def _side(scores: CellScores | LanguageScore) -> tuple[Any, ...]:
    return scores.model, scores.shots, scores.answer_form, scores.prompt_set


def _sizes(cell: CellScores) -> dict[str, int]:
    """Returns what the scores of a cell can be broken down by, and about how many numbers that is."""
    declared = [*cell.declared.get("breakdowns", []), *cell.declared.get("grouped_fields", {})]
    fields = {name: 5 * len(labels.names) for name, labels in cell.fields.items() if name in declared}
    labels = len(cell.declared.get("labels", []))
    has_labels = labels and bool((cell.n_choices == labels).all() and (cell.golds >= 0).all())
    return fields | ({CONFUSION: labels * (labels + 2)} if has_labels else {})


def _parts(cells: list[CellScores], lines: Sequence[LanguageScore], share: int) -> list[tuple[str, list[Markup]]]:
    first = {(*_side(line), line.language, line.prompt_language) for line in lines[:share]}
    shown = [c for c in cells if (*_side(c), c.language, c.prompt_language) in first]
    names = list(dict.fromkeys(name for c in shown for name in _sizes(c)))
    titled_tables = []
    for name in names:
        having = [c for c in shown if name in _sizes(c)]
        title = "Right and chosen labels" if name == CONFUSION else f"By {name}"
        best = "best score" if share == 1 else f"{share} best scores"
        few = f", of the {best}" if len(lines) > share else ""
        tables = breakdown_tables(having, name)
        titled_tables.append((f"{title}{few}", [table_html(table, level=5) for table in tables]))
    return titled_tables
