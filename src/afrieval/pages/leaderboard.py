"""A leaderboard as a folder of pages that need no server: index, tasks, languages and models, and their data."""

import importlib.metadata
from collections.abc import Iterable, Mapping, Sequence

from markupsafe import Markup

from afrieval.analysis.boards import Board, Leaderboard, Standing
from afrieval.analysis.entrants import Entrant, TaskEntries
from afrieval.languages import LANGUAGES
from afrieval.pages.board_heat import board_heat
from afrieval.pages.links import link, links, page_of
from afrieval.pages.shell import page
from afrieval.pages.strips import Point, strip
from afrieval.pages.tables import Links, table_html
from afrieval.report.boards import (
    average_tables,
    best_table,
    left_out_table,
    model_table,
    pair_table,
    task_table,
    tasks_table,
)
from afrieval.report.formats import write
from afrieval.report.records import record_tables
from afrieval.report.suites import PERCENT
from afrieval.report.table import Table
from afrieval.report.values import SHARE, shown_interval, shown_score
from afrieval.terminal import one_line

TITLE = "Leaderboard"
FORMS = ("json", "csv")
Views = Sequence[tuple[str, str, Markup]]  # name, title and content


def site(board: Leaderboard) -> dict[str, bytes]:
    """Returns all files by name.

    Args:
        board: what to show.
    """
    files = {"index.html": _index(board)}
    up = _links("../", board)
    order = _order(board)
    for task in board.tasks:
        files[page_of("task", task.task)] = _task(board, task, order, up)
    for code in board.languages | dict.fromkeys(code for _, code in board.pairs):
        files[page_of("language", code)] = _language(board, code, up)
    for model in board.models:
        files[page_of("model", model)] = _model(board, model, up)
    return files | _data(board)


def _links(up: str, board: Leaderboard) -> Links:
    codes = dict.fromkeys(code for _, code in board.pairs)
    return links(up, task=[task.task for task in board.tasks], language=codes, model=board.models)


def _order(board: Leaderboard) -> list[Entrant]:
    """Returns the entrants in the order of the first average; those without one are last."""
    first = [standing.entrant for average in board.averages[:1] for standing in average.standings]
    return list(dict.fromkeys([*first, *board.entrants]))


def _page(title: str, subtitle: str, views: Views, board: Leaderboard, crumbs: bool = True, **filters: object) -> bytes:
    published = any(entrant.published for entrant in board.entrants)
    return page(
        "leaderboard.html",
        title=one_line(title),
        subtitle=subtitle,
        crumbs=[(TITLE, "../index.html")] if crumbs else [],
        views=[{"name": name, "title": text, "content": content} for name, text, content in views if content],
        filters={name: values for name, values in filters.items() if values},
        version=importlib.metadata.version("afrieval"),
        about="Faint rows are published scores." if published else "",
    )


def _index(board: Leaderboard) -> bytes:
    here = _links("", board)
    best = [table_html(best_table(sorted(board.languages.values(), key=lambda b: language_name(b.name))), links=here)]
    note = "Means over the tasks that most models have in the language, in percent of their metrics' ranges."
    best.append(board_heat("All models in each language", board.languages, _order(board), PERCENT, here, note))
    averages = [html for average in board.averages for html in _average(average, board.tasks, here)]
    about = [table_html(tasks_table(board.tasks), links=here), _downloads(board)]
    about += [table_html(left_out_table(board.left_out))] if board.left_out else []
    views = [
        ("averages", "Averages", Markup("").join(averages)),
        ("languages", "Languages", Markup("").join(best)),
        ("data", "Tasks and data", Markup("").join(about)),
    ]
    counts = f"{_counted(board.models, 'model')}, {_counted(board.tasks, 'task')}, " + _counted(
        {code for _, code in board.pairs}, "language"
    )
    codes = sorted({code for _, code in board.pairs}, key=language_name)
    families = sorted({LANGUAGES[code].family for code in codes if code in LANGUAGES})
    filters = {
        "language": {code: language_name(code) for code in codes},
        "family": {name: name for name in families},
        "model": {model: one_line(model) for model in board.models},
    }
    several = {name: values if len(values) > 1 else {} for name, values in filters.items()}
    return _page(TITLE, counts, views, board, crumbs=False, **several)


def _average(average: Board, tasks: Sequence[TaskEntries], addresses: Links) -> Iterable[Markup]:
    tables = average_tables(average, tasks)
    sides = {
        "average": [s for s in average.standings if s.whole],
        "other average": [s for s in average.standings if not s.whole],
    }
    return [table_html(table, _strips(sides[table.kind], PERCENT), links=addresses) for table in tables]


def _strips(standings: Sequence[Standing], bounds: tuple[float, float]) -> Mapping[str, list[Markup]] | None:
    """Returns a chart of the scores and their intervals, on one scale; None where no interval is known."""
    ends = [end for s in standings for end in (s.score, *(s.interval or ()))]
    if not any(standing.interval for standing in standings):
        return None
    scale = min(ends), max(ends)
    return {"score and interval": [_strip(standing, scale, bounds) for standing in standings]}


def _strip(standing: Standing, scale: tuple[float, float], bounds: tuple[float, float]) -> Markup:
    kind, shape = ("second", "diamond") if standing.entrant.published else ("first", "dot")
    interval = f", 95% interval {shown_interval(standing.interval, bounds)}" if standing.interval else ""
    says = f"{shown_score(standing.score, bounds)}{interval}"
    return strip([Point(standing.score, kind, shape, standing.interval)], scale, says)


def _task(board: Leaderboard, task: TaskEntries, order: Sequence[Entrant], up: Links) -> bytes:
    bounds = task.metric.bounds if task.metric else SHARE
    means, content = board.means[task.task], []
    if table := task_table(means, task):
        content.append(table_html(table, _strips(means.standings, bounds), links=up))
    rows = {code: board.pairs[task.task, code] for code in task.languages}
    heat = board_heat(f"{task.task} in each language", rows, order, bounds, up)
    subtitle = f"{_counted({e.model for e in task.entries}, 'model')}, {_counted(task.languages, 'language')}"
    return _page(task.task, subtitle, [("task", task.task, Markup("").join([*content, heat]))], board)


def _language(board: Leaderboard, code: str, up: Links) -> bytes:
    content = []
    if code in board.languages and len(board.languages[code].tasks) > 1:
        tables = average_tables(board.languages[code], board.tasks)
        content += [table_html(table, links=up) for table in tables]
    for task in board.tasks:
        if (task.task, code) in board.pairs:
            found = board.pairs[task.task, code]
            bounds = task.metric.bounds if task.metric else SHARE
            content.append(table_html(pair_table(found, task, code), _strips(found.standings, bounds), links=up))
    known = LANGUAGES.get(code)
    subtitle = f"{code}, {known.family}, {known.region}" if known else code
    return _page(language_name(code), subtitle, [("language", "Scores", Markup("").join(content))], board)


def _model(board: Leaderboard, model: str, up: Links) -> bytes:
    scores = [
        table_html(model_table(task, model, {code: board.pairs[task.task, code] for code in task.languages}), links=up)
        for task in board.tasks
        if any(entrant.model == model for entrant in task.entries)
    ]
    records = [table_html(table) for table in record_tables(board.records.get(model, []))]
    views = [
        ("scores", "Scores", Markup("").join(scores)),
        ("settings", "Settings, versions and hashes", Markup("").join(records)),
    ]
    subtitle = "Scores that others have published." if not records else _counted(board.records[model], "run")
    return _page(model, subtitle, views, board)


def _data(board: Leaderboard) -> dict[str, bytes]:
    """Returns everything as JSON and CSV."""
    files = {}
    for name, tables in _data_tables(board).items():
        for form in FORMS:
            files[f"data/{name}.{form}"] = write(tables, form).encode(errors="backslashreplace")
    return files


def _data_tables(board: Leaderboard) -> dict[str, list[Table]]:
    tasks = {task.task: task for task in board.tasks}
    every = {
        "averages": [table for average in board.averages for table in average_tables(average, board.tasks)],
        "tasks": [table for name, means in board.means.items() if (table := task_table(means, tasks[name]))],
        "languages": [best_table(list(board.languages.values()))],
        "scores": [pair_table(found, tasks[task], code) for (task, code), found in board.pairs.items()],
        "left-out": [left_out_table(board.left_out)],
    }
    return {name: tables for name, tables in every.items() if tables}


def _downloads(board: Leaderboard) -> Markup:
    names = _data_tables(board)
    items = [
        Markup("<li>{}: {}, {}</li>").format(
            name, *(link(form.upper(), f"data/{name}.{form}") for form in ("json", "csv"))
        )
        for name in names
    ]
    return Markup("<section><h3>All numbers as files</h3><ul>{}</ul></section>").format(Markup("").join(items))


def language_name(code: str) -> str:
    """Returns what a language is called; its code if the suite does not have it."""
    return LANGUAGES[code].name if code in LANGUAGES else code


def _counted(found: Iterable[object], word: str) -> str:
    n = len(list(found))
    return f"{n} {word}{'' if n == 1 else 's'}"
