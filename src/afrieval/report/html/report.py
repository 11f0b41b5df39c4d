"""The report: views of runs and published scores, in one page."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from markupsafe import Markup

from afrieval._util.grouping import grouped
from afrieval._util.version import __version__
from afrieval.analysis.contrasts import Contrast
from afrieval.analysis.inputs import Inputs
from afrieval.analysis.standings import Board
from afrieval.analysis.verdicts import by_quality, marks
from afrieval.report.boards import left_out_table
from afrieval.report.citing import method, references, software
from afrieval.report.comparable_scores import ComparableScores, comparable_scores
from afrieval.report.html.best_views import summary
from afrieval.report.html.frame import View, behind, counted, filter_attributes, filters_of, fragment, framed
from afrieval.report.html.heat import mean_matrices, task_heat
from afrieval.report.html.judged_views import judged
from afrieval.report.html.language_views import languages
from afrieval.report.html.prompt_views import native, native_contrasts, prompts
from afrieval.report.html.tables import table_html
from afrieval.report.published_tables import published_tables
from afrieval.report.run_summary import work_of
from afrieval.report.score_tables import WRITTEN, doubts
from afrieval.report.settings import differences, run_settings
from afrieval.report.standing_words import effects_of
from afrieval.report.values import titled


def overview(inputs: Inputs, contrasts: Sequence[Contrast] = ()) -> Markup:
    """Returns who is best and how sure that is, in a table and in sentences; behind clicks, all scores.

    `contrasts` has what native prompts change.
    """
    cells = by_quality([*inputs.run_cells, *inputs.foreign])
    comparable = comparable_scores(cells)
    content = summary(comparable, effects_of(contrasts), [*marks(cells), *doubts(cells)])
    open_ = not any(board.standings[0].concludes for part in comparable for board in part.boards.values())
    means = Markup("").join(mean_matrices(comparable))
    content += [behind("Means over African languages", means, {}, open_)] if means else []
    for (task, _), parts in grouped(comparable, lambda part: (part.task, part.metric.name)).items():
        heats = Markup("").join(_of_task(parts))
        content.append(behind(f"{titled(task, parts[0].metric)}: all languages", heats, {"task": task}, open_))
    for table in published_tables(cells, inputs.published):
        content.append(behind(table.title, table_html(table), table.about, not cells))
    if inputs.left_out:
        content.append(table_html(left_out_table([(path.name, why) for path, why in inputs.left_out])))
    return Markup("").join(content)


def _of_task(parts: Sequence[ComparableScores]) -> list[Markup]:
    """Returns heat maps: of models, or of prompt languages where there is only one side."""
    if len({side for part in parts for side in part.sides}) == 1:
        return [_of_one_side(parts)]
    content = []
    for part in parts:
        order = dict.fromkeys([*(standing.side for standing in part.mean_board.standings), *part.sides])
        cells = {side: part.sides[side] for side in order}
        content.append(task_heat(f"{part.title}: all languages", part.task, part.metric, part.boards, cells))
    return content


def _of_one_side(parts: Sequence[ComparableScores]) -> Markup:
    """Returns a heat map in which the languages of prompts are the sides."""
    first = parts[0]
    (side,) = first.sides
    cells = {f"{WRITTEN[part.kind]} prompts": part.sides[side] for part in parts}
    boards: dict[str, Board[str]] = {}
    for name, part in zip(cells, parts, strict=True):
        for code, board in part.boards.items():
            standings = boards[code].standings if code in boards else []
            boards[code] = replace(board, standings=[*standings, board.standings[0]._replace(side=name)])
    return task_heat(f"{first.titled(False)}: {side}", first.task, first.metric, boards, cells)


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


def report(inputs: Inputs, title: str = "Evaluation report") -> bytes:
    """Returns the report of runs and published scores: one page as UTF-8."""
    contrasts = native_contrasts(inputs)
    views = [
        View("overview", "Overview", overview(inputs, contrasts)),
        View("languages", "Languages", languages(inputs)),
        View("native", "Native prompts", native(inputs, contrasts)),
        View("prompts", "Prompts", prompts(inputs)),
        View("judged", "Judged", judged(inputs)),
        View("runs", "Runs", runs(inputs)),
        View("cite", "How to cite", cite(inputs)),
    ]
    cells = [*inputs.run_cells, *inputs.foreign]
    codes = {c.language for c in cells} | {code for row in inputs.published for code in row.scores}
    tasks, models = ([getattr(of, name) for of in (*cells, *inputs.published)] for name in ("task", "model"))
    filters = {"task": {name: name for name in tasks}, **filters_of(codes, models)}
    subtitle = ", ".join(counted(filters[name], name) for name in ("model", "task", "language"))
    return framed("report.html", title, subtitle, views, filters)
