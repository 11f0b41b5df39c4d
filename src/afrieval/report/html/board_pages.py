"""A leaderboard as a folder of pages that need no server: index, tasks, languages and models."""

import hashlib
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from markupsafe import Markup

from afrieval._util.terminal import brief
from afrieval.analysis.entries import TaskEntries
from afrieval.analysis.leaderboard import Leaderboard, ModelBoard, ModelStanding
from afrieval.analysis.ranks import PERCENT
from afrieval.analysis.suites import RULES
from afrieval.report.boards import (
    average_tables,
    best_sentence,
    best_table,
    left_out_table,
    model_averages,
    model_table,
    pair_table,
    task_table,
    tasks_table,
)
from afrieval.report.formats import csv_files, write
from afrieval.report.html.charts import PROMPTS, PUBLISHED, ChartRow, chance_line, chart_column, named_points
from afrieval.report.html.frame import (
    View,
    behind,
    counted,
    filter_attributes,
    filters_of,
    findings_html,
    framed,
    link,
)
from afrieval.report.html.heat import board_heats
from afrieval.report.html.tables import Links, by_prompts, table_html
from afrieval.report.settings import record_tables
from afrieval.report.table import Table
from afrieval.report.values import SHARE, Bounds, Point, about_language, bounds_of, language_name


class Charted(NamedTuple):
    """A table of models, its rows, their scale, and the share that a random guess has."""

    table: Table
    standings: Sequence[ModelStanding]
    bounds: Bounds = SHARE
    chance: float = math.nan


def averages_of(boards: Iterable[ModelBoard], tasks: Sequence[TaskEntries]) -> Iterator[Charted]:
    """Yields the tables of averages, each with those that lack some of its pairs after it."""
    for board in boards:
        sides = [[s for s in board.standings if s.whole == whole] for whole in (True, False)]
        tables = average_tables(board, tasks)
        chances = [task.chance for task in tasks if task.task in board.tasks]
        of_whole = float(np.mean(chances)) if sides[0] and chances else math.nan  # others are over other tasks
        for table, side in zip(tables, filter(None, sides), strict=True):
            yield Charted(table, side, PERCENT, of_whole if side is sides[0] else math.nan)


def tables_html(tables: Iterable[Charted], links: Links) -> Markup:
    """Returns tables with a chart of scores and intervals; of each note, only the first is shown."""
    seen: set[str] = set()
    sections = []
    for each in tables:
        notes = [note for note in each.table.notes if note not in seen]
        seen.update(notes)
        sides = [(s.side._replace(prompt_language=""), s.side.prompt_language) for s in each.standings]
        published = [at for at, s in enumerate(each.standings) if s.side.published]
        table, rows = by_prompts(replace(each.table, notes=notes), sides, published)
        charts: dict[str, list[Markup]] = {}
        if any(standing.interval for standing in each.standings):  # else there is nothing to draw
            lines, chart_rows = chance_line(each.chance, each.bounds), []
            for of_model in ([each.standings[at] for at in of_row] for of_row in rows):
                looks = [PUBLISHED if s.side.published else PROMPTS[s.side.prompt_language != "eng"] for s in of_model]
                points = [(look, Point(s.score, s.interval)) for look, s in zip(looks, of_model, strict=True)]
                chart_rows.append(ChartRow(points, named_points(points, each.bounds), lines))
            charts = dict([chart_column(chart_rows, each.bounds)])
        shown = table_html(table, charts, links=links)
        sections.append(behind(table.title, shown, {}) if table.kind == "other average" else shown)
    return Markup("").join(sections)


LONGEST = 60
RESERVED = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)", re.IGNORECASE)  # by Windows


def file_name(text: str) -> str:
    """Returns a name without a suffix; texts that differ, even in capital letters only, have different names.

    Short texts of small letters, digits and underscores are their own names. All others end in a part of their hash.
    """
    if re.fullmatch(rf"[a-z0-9_]{{1,{LONGEST}}}", text) and not RESERVED.fullmatch(text):
        return text
    words = re.sub(r"[^a-z0-9.]+", "-", text.lower().replace("..", "."))[:LONGEST].strip("-.")
    digest = hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()[:8]
    return f"{words}-{digest}" if words else digest


FOLDERS = {"task": "tasks", "language": "languages", "model": "models"}


def page_of(kind: str, name: str) -> str:
    """Returns the file of a page below the leaderboard's folder; `kind` is task, language or model."""
    return f"{FOLDERS[kind]}/{file_name(name)}.html"


def links_from(up: str, board: Leaderboard) -> Links:
    """Returns the addresses of all pages about a task, a language or a model.

    `up` leads from the page to the leaderboard's folder: empty, or `../`.
    """
    codes = dict.fromkeys(code for _, code in board.pairs)
    names = {"task": [task.task for task in board.tasks], "language": codes, "model": board.model_names}
    return {kind: {name: up + page_of(kind, name) for name in of_kind} for kind, of_kind in names.items()}


TITLE = "Leaderboard"


def _page(
    board: Leaderboard,
    title: str,
    subtitle: str,
    views: Sequence[View],
    filters: Mapping[str, Mapping[str, str]] | None = None,
) -> bytes:
    published = any(model.published for model in board.models)
    about = "Faint rows and hollow dots are published scores." if published else ""
    crumbs = [] if title == TITLE else [(TITLE, "../index.html")]
    return framed("leaderboard.html", brief(title), subtitle, views, filters or {}, about, crumbs=crumbs)


def task_page(board: Leaderboard, task: TaskEntries) -> bytes:
    """Returns the means of all models in a task, and a heat map of languages."""
    up, bounds = links_from("../", board), bounds_of(task.metric)
    means = board.means[task.task]
    table = task_table(means, task)
    content = tables_html([Charted(table, means.standings, bounds, task.chance)] if table else [], up)
    rows = {code: board.pairs[task.task, code] for code in task.languages}
    content += board_heats("All models in each language", rows, board.order, bounds, up)
    models = sorted({model.name for model in task.entries})
    subtitle = f"{counted(models, 'model')}, {counted(task.languages, 'language')}"
    return _page(board, task.task, subtitle, [View("scores", "Scores", content)], filters_of(task.languages, models))


def language_page(board: Leaderboard, code: str) -> bytes:
    """Returns the models in a language, best first, over all tasks and in each one."""
    several = len({task for task, of in board.pairs if of == code}) > 1 and code in board.languages
    of_all = board.languages[code] if several else None
    charted = list(averages_of([of_all] if of_all else [], board.tasks))
    sentences = [best_sentence(of_all)] if of_all else []
    for task in board.tasks:
        if pair_board := board.pairs.get((task.task, code)):
            bounds = bounds_of(task.metric)
            charted.append(Charted(pair_table(pair_board, task, code), pair_board.standings, bounds, task.chance))
            sentences.append(best_sentence(pair_board, task))
    content = findings_html("", [(filter_attributes({}), text) for text in sentences if text])
    content += tables_html(charted, links_from("../", board))
    subtitle = ", ".join(filter(None, [code, about_language(code)]))
    return _page(board, language_name(code), subtitle, [View("scores", "Which model is best", content)])


def model_page(board: Leaderboard, name: str) -> bytes:
    """Returns all scores of a model, and what its runs were made with."""
    up = links_from("../", board)
    means = model_averages(board.averages, name)
    tables = [
        model_table(task, name, {code: board.pairs[task.task, code] for code in task.languages})
        for task in board.tasks
        if any(model.name == name for model in task.entries)
    ]
    tables = [means, *tables] if means else tables
    records, others = board.results.records.get(name, []), board.results.settings.get(name, [])
    settings = tables_html([Charted(table, []) for table in record_tables(records, others)], up)
    views = [
        View("scores", "Scores", tables_html([Charted(table, []) for table in tables], up)),
        View("settings", "Settings, versions and hashes", settings),
    ]
    runs = [*records, *others]
    subtitle = counted(runs, "run") if runs else "Scores that others have published."
    return _page(board, name, subtitle, views)


def index(board: Leaderboard, data: Iterable[str]) -> bytes:
    """Returns the first page: averages, languages, tasks, and links to all numbers as files."""
    links = links_from("", board)
    codes = {code for _, code in board.pairs}
    counts = [counted(board.model_names, "model"), counted(board.tasks, "task"), counted(codes, "language")]
    items = Markup("").join(Markup("<li>{}</li>").format(link(name, name)) for name in data)
    files = Markup("<section><h3>All numbers as files</h3><ul>{}</ul></section>").format(items)
    left_out = table_html(left_out_table(board.results.left_out)) if board.results.left_out else ""
    named = {average.name: [average] for average in board.averages if average.name in RULES}
    named |= {"families": [average for average in board.averages if average.name not in RULES]}
    titles = {"suite": "Average", "afrobench": "AfroBench's average", "families": "By family"}
    boards = sorted(board.languages.values(), key=lambda of_language: language_name(of_language.name))
    languages = Markup("")
    if boards:
        note = "Means over the tasks that most models have in the language, in percent of their metrics' ranges."
        best = best_table(boards, board.tasks)
        languages = table_html(best, links=links) if best.rows else languages
        title = "All models in each language"
        languages += board_heats(title, board.languages, board.order, PERCENT, links, note)
    views = [
        *(View(name, titles[name], tables_html(averages_of(of, board.tasks), links)) for name, of in named.items()),
        View("languages", "Languages", languages),
        View("data", "Tasks and data", table_html(tasks_table(board.tasks), links=links) + files + left_out),
    ]
    return _page(board, TITLE, ", ".join(counts), views, filters_of(codes, board.model_names))


def site(board: Leaderboard) -> dict[str, bytes]:
    """Returns the files of the leaderboard, pages and data, by their paths."""
    tasks, texts = {task.task: task for task in board.tasks}, dict[str, str]()
    files = {
        "averages": [table for average in board.averages for table in average_tables(average, board.tasks)],
        "tasks": [table for name, means in board.means.items() if (table := task_table(means, tasks[name]))],
        "languages": [best_table(list(board.languages.values()), board.tasks)] if board.languages else [],
        "scores": [pair_table(of_pair, tasks[task], code) for (task, code), of_pair in board.pairs.items()],
        "left-out": [left_out_table(board.results.left_out)] if board.results.left_out else [],
    }
    for name, tables in files.items():
        if tables:
            texts |= {f"data/{name}.json": write(tables, "json"), **csv_files(f"data/{name}.csv", tables)}
    data = {name: text.encode(errors="backslashreplace") for name, text in texts.items()}
    codes = dict.fromkeys(code for _, code in board.pairs)
    return {
        "index.html": index(board, data),
        **{page_of("task", task.task): task_page(board, task) for task in board.tasks},
        **{page_of("language", code): language_page(board, code) for code in codes},
        **{page_of("model", model): model_page(board, model) for model in board.model_names},
        **data,
    }
