"""The report: views of runs and published scores, in one page."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from markupsafe import Markup

from afrieval._util.grouping import grouped
from afrieval._util.version import __version__
from afrieval.analysis.best import in_languages, over_languages
from afrieval.analysis.contrasts import Contrast
from afrieval.analysis.inputs import Inputs
from afrieval.analysis.verdicts import by_quality, marks
from afrieval.report.best_sides import Entries, effects_of
from afrieval.report.boards import left_out_table
from afrieval.report.citing import method, references, software
from afrieval.report.contrast_tables import ComparableScores, parts
from afrieval.report.html.best_views import summary
from afrieval.report.html.board_frame import counted, filters_of
from afrieval.report.html.frame import behind, filter_attributes, fragment, page
from afrieval.report.html.heat import heat, mean_matrices
from afrieval.report.html.judged_views import judged
from afrieval.report.html.language_views import languages
from afrieval.report.html.prompt_views import native, native_contrasts, prompts
from afrieval.report.html.tables import table_html
from afrieval.report.published_tables import published_tables
from afrieval.report.run_summary import work_of
from afrieval.report.score_tables import WRITTEN, doubts
from afrieval.report.settings import differences, run_settings
from afrieval.report.values import titled


def overview(inputs: Inputs, contrasts: Sequence[Contrast] = ()) -> Markup:
    """Returns who is best and how sure that is, in a table and in sentences; behind clicks, all scores.

    `contrasts` has what native prompts change.
    """
    cells = by_quality([*inputs.run_cells, *inputs.foreign])
    comparable = parts(cells)
    entries = [in_languages(part.sides) for part in comparable]
    standings = [over_languages(part.sides) for part in comparable]
    content = summary(comparable, standings, entries, effects_of(contrasts), [*marks(cells), *doubts(cells)])
    open_ = not any(of[0].concludes for of_part in entries for of in of_part.values())
    means = Markup("").join(mean_matrices(list(zip(comparable, standings, strict=True))))
    content += [behind("Means over African languages", means, {}, open_)] if means else []
    ordered = []
    for part, of_part in zip(comparable, standings, strict=True):
        order = dict.fromkeys([*(standing.side for standing in of_part), *part.sides])
        ordered.append(part._replace(sides={side: part.sides[side] for side in order}))
    of_parts = zip(ordered, entries, strict=True)
    for of_task in grouped(of_parts, lambda pair: (pair[0].task, pair[0].metric.name)).values():
        heats = Markup("").join(_of_task(of_task))
        task, title = of_task[0][0].task, titled(of_task[0][0].task, of_task[0][0].metric)
        content.append(behind(f"{title}: all languages", heats, {"task": task}, open_))
    for table in published_tables(cells, inputs.published):
        content.append(behind(table.title, table_html(table), table.about, not cells))
    if inputs.left_out:
        content.append(table_html(left_out_table([(path.name, why) for path, why in inputs.left_out])))
    return Markup("").join(content)


def _of_task(comparable: Sequence[tuple[ComparableScores, Entries]]) -> list[Markup]:
    """Returns heat maps: of models, or of prompt languages where there is only one side."""
    if len({side for part, _ in comparable for side in part.sides}) == 1:
        return [_of_one_side(comparable)]
    content = []
    for part, entries in comparable:
        pairs = [(code, entry) for code, of_language in entries.items() for entry in of_language]
        columns = {side: {code: entry for code, entry in pairs if entry.side == side} for side in part.sides}
        about = {side: {"model": cells[0].model} for side, cells in part.sides.items()}
        notes = doubts(cell for cells in part.sides.values() for cell in cells)
        content.append(heat(f"{part.title}: all languages", columns, part.metric, about, part.task, notes))
    return content


def _of_one_side(comparable: Sequence[tuple[ComparableScores, Entries]]) -> Markup:
    first = comparable[0][0]
    columns = {
        f"{WRITTEN[part.kind]} prompts": {code: entry for code, (entry,) in entries.items()}
        for part, entries in comparable
    }
    (side,) = first.sides
    model = first.sides[side][0].model
    title = first._replace(named=False).title
    about = {name: {"model": model} for name in columns}
    notes = doubts(cell for part, _ in comparable for cells in part.sides.values() for cell in cells)
    return heat(f"{title}: {side}", columns, first.metric, about, first.task, notes)


def runs(inputs: Inputs) -> Markup:
    """Returns what differs between runs, then each run's settings, mostly folded; nothing without runs."""
    settings = run_settings([*inputs.run_cells, *inputs.foreign])
    if not settings:
        return Markup()
    return fragment(
        "runs.html",
        tables=[table_html(table) for table in differences(settings)],
        runs=[
            (run, filter_attributes({"model": run.model}), map(table_html, work_of(Path(run.name)))) for run in settings
        ],
    )


def cite(inputs: Inputs) -> Markup:
    """Returns each benchmark's citation and licence, and a paragraph on the method."""
    publications = [
        (reference, [(one, filter_attributes({"task": one.tasks[0]})) for one in reference.benchmarks])
        for reference in references(
            [c.task for c in (*inputs.run_cells, *inputs.foreign)] + [r.task for r in inputs.published]
        )
    ]
    return fragment(
        "cite.html", references=publications, method=method(inputs.run_cells), software=software(__version__)
    )


class ReportView(NamedTuple):
    """A part of the page that is shown at a time.

    Attributes:
        content: takes what native prompts change too; empty if there is nothing to show. The view is then left out.
    """

    name: str
    title: str
    content: Callable[[Inputs, list[Contrast]], Markup]


VIEWS = (
    ReportView("overview", "Overview", overview),
    ReportView("languages", "Languages", lambda inputs, _: languages(inputs)),
    ReportView("native", "Native prompts", native),
    ReportView("prompts", "Prompts", lambda inputs, _: prompts(inputs)),
    ReportView("judged", "Judged", lambda inputs, _: judged(inputs)),
    ReportView("runs", "Runs", lambda inputs, _: runs(inputs)),
    ReportView("cite", "How to cite", lambda inputs, _: cite(inputs)),
)


def report(inputs: Inputs, title: str = "Evaluation report") -> bytes:
    """Returns the page as UTF-8."""
    contrasts = native_contrasts(inputs)
    contents = [(view, view.content(inputs, contrasts)) for view in VIEWS]
    views = [{"name": view.name, "title": view.title, "content": content} for view, content in contents if content]
    cells = [*inputs.run_cells, *inputs.foreign]
    codes = {c.language for c in cells} | {code for row in inputs.published for code in row.scores}
    tasks, models = ([getattr(of, name) for of in (*cells, *inputs.published)] for name in ("task", "model"))
    filters = {"task": {name: name for name in tasks}, **filters_of(codes, models)}
    return page(
        "report.html",
        title=title,
        subtitle=", ".join(counted(filters[name], name) for name in ("model", "task", "language")),
        views=views,
        filters={name: values for name, values in filters.items() if len(values) > 1},
        version=__version__,
        about="",
    )
