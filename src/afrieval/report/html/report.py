"""The report: views of runs and published scores, in one page."""

import importlib.metadata
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from markupsafe import Markup

from afrieval._util.grouping import grouped
from afrieval.analysis.best import LanguageEntry, in_languages, over_languages
from afrieval.analysis.inputs import Inputs
from afrieval.analysis.verdicts import marks
from afrieval.report.best_tables import all_scores, best_table, findings
from afrieval.report.boards import left_out_table
from afrieval.report.citing import method, references, software
from afrieval.report.contrast_tables import ComparableScores, parts
from afrieval.report.html.board_frame import counted, filters_of
from afrieval.report.html.frame import fragment, page, place
from afrieval.report.html.heat import heat, mean_matrices
from afrieval.report.html.language_views import languages
from afrieval.report.html.prompt_views import native, prompts
from afrieval.report.html.tables import table_html
from afrieval.report.published_tables import published_tables
from afrieval.report.run_summary import work_of
from afrieval.report.score_tables import WRITTEN
from afrieval.report.settings import differences, run_settings

Entries = Mapping[str, Sequence[LanguageEntry]]


def overview(given: Inputs) -> Markup:
    """Returns findings, means over languages, and for each task the best of each language and a heat map."""
    cells = [*given.own, *given.foreign]
    found = parts(cells)
    entries = [in_languages(part.sides) for part in found]
    standings = [over_languages(part.sides) for part in found]
    said = [(place({}), text) for text in marks(cells)]
    said += [
        (place({"task": part.task}), text)
        for part, of_part, standing in zip(found, entries, standings, strict=True)
        for text in findings(part, standing, of_part)
    ]
    content = [fragment("findings.html", findings=said)] if said else []
    content += mean_matrices(list(zip(found, standings, strict=True)))
    ordered = []
    for part, of_part in zip(found, standings, strict=True):
        order = dict.fromkeys([*(standing.side for standing in of_part), *part.sides])
        ordered.append(part._replace(sides={side: part.sides[side] for side in order}))
    of_parts = zip(ordered, entries, strict=True)
    for of_task in grouped(of_parts, lambda pair: (pair[0].task, pair[0].metric.name)).values():
        content += _of_task(of_task)
    content += [table_html(table) for table in published_tables(cells, given.published)]
    if given.left_out:
        content.append(table_html(left_out_table([(path.name, why) for path, why in given.left_out])))
    return Markup("").join(content)


def _of_task(found: Sequence[tuple[ComparableScores, Entries]]) -> list[Markup]:
    """Returns the best of each language, and heat maps: of prompt languages where there is only one side."""
    if len({side for part, _ in found for side in part.sides}) == 1:
        return [_of_one_side(found), *(_behind(*pair) for pair in found)]
    content = []
    for part, entries in found:
        links = {"language": {code: f"#view=languages&language={code}" for code in entries}}
        best = best_table(part, entries)
        content += [table_html(best, links=links)] if best.rows else []
        columns: dict[str, dict[str, LanguageEntry]] = {side: {} for side in part.sides}
        for code, of_language in entries.items():
            for entry in of_language:
                columns[entry.side][code] = entry
        about = {side: {"model": cells[0].model} for side, cells in part.sides.items()}
        content.append(heat(f"{part.title}: all languages", columns, part.metric.bounds, about, part.task))
        content.append(_behind(part, entries))
    return content


def _of_one_side(found: Sequence[tuple[ComparableScores, Entries]]) -> Markup:
    first = found[0][0]
    columns = {
        f"{WRITTEN[part.kind]} prompts": {code: entry for code, (entry,) in entries.items()} for part, entries in found
    }
    (side,) = first.sides
    model = first.sides[side][0].model
    title = first._replace(named=False).title
    about = {name: {"model": model} for name in columns}
    return heat(f"{title}: {side}", columns, first.metric.bounds, about, first.task)


def _behind(part: ComparableScores, entries: Entries) -> Markup:
    table = all_scores(part, entries)
    return fragment("behind.html", place=place(table.about), title=table.title, content=table_html(table))


def runs(given: Inputs) -> Markup:
    """Returns what differs between runs, then each run's settings, mostly folded; nothing without runs."""
    found = run_settings([*given.own, *given.foreign])
    if not found:
        return Markup()
    return fragment(
        "runs.html",
        tables=[table_html(table) for table in differences(found)],
        runs=[(run, place({"model": run.model}), map(table_html, work_of(Path(run.name)))) for run in found],
    )


def cite(given: Inputs) -> Markup:
    """Returns each benchmark's citation and licence, and a paragraph on the method."""
    found = [
        (reference, [(one, place({"task": one.tasks[0]})) for one in reference.benchmarks])
        for reference in references([c.task for c in (*given.own, *given.foreign)] + [r.task for r in given.published])
    ]
    version = importlib.metadata.version("afrieval")
    return fragment("cite.html", references=found, method=method(given.own), software=software(version))


class ReportView(NamedTuple):
    """A part of the page that is shown at a time.

    Attributes:
        content: empty if there is nothing to show; the view is then left out.
    """

    name: str
    title: str
    content: Callable[[Inputs], Markup]


VIEWS = (
    ReportView("overview", "Overview", overview),
    ReportView("languages", "Languages", languages),
    ReportView("native", "Native prompts", native),
    ReportView("prompts", "Prompts", prompts),
    ReportView("runs", "Runs", runs),
    ReportView("cite", "How to cite", cite),
)


def report(given: Inputs, title: str = "Evaluation report") -> bytes:
    """Returns the page as UTF-8."""
    views = [{"name": v.name, "title": v.title, "content": content} for v in VIEWS if (content := v.content(given))]
    cells = [*given.own, *given.foreign]
    codes = {c.language for c in cells} | {code for row in given.published for code in row.scores}
    tasks, models = ([getattr(of, name) for of in (*cells, *given.published)] for name in ("task", "model"))
    found = {"task": {name: name for name in tasks}, **filters_of(codes, models)}
    return page(
        "report.html",
        title=title,
        subtitle=", ".join(counted(found[name], name) for name in ("model", "task", "language")),
        views=views,
        filters={name: values for name, values in found.items() if len(values) > 1},
        version=importlib.metadata.version("afrieval"),
        about="",
    )
