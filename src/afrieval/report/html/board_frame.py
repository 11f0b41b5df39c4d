"""What all pages of a leaderboard share: tables with charts, and addresses."""

import hashlib
import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from markupsafe import Markup

from afrieval.analysis.entries import TaskEntries
from afrieval.analysis.leaderboard import Leaderboard, ModelBoard, ModelStanding
from afrieval.analysis.ranks import PERCENT
from afrieval.report.boards import average_tables
from afrieval.report.by_prompts import by_prompts
from afrieval.report.html.charts import PROMPTS, PUBLISHED, ChartRow, chance_line, chart_column, named_points
from afrieval.report.html.frame import behind
from afrieval.report.html.tables import Links, table_html
from afrieval.report.table import Table
from afrieval.report.values import SHARE, Bounds, Point


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
        models = [[each.standings[at] for at in of_row] for of_row in rows] if each.standings else []
        shown = table_html(table, _charts(models, each.bounds, each.chance), links=links)
        sections.append(behind(table.title, shown, {}) if table.kind == "other average" else shown)
    return Markup("").join(sections)


def _charts(models: Sequence[Sequence[ModelStanding]], bounds: Bounds, chance: float) -> dict[str, list[Markup]]:
    """Returns a chart per model, all on one scale; none where no interval is known."""
    if not any(standing.interval for of_model in models for standing in of_model):
        return {}
    lines = chance_line(chance, bounds)
    points = [
        [
            (PUBLISHED if s.side.published else PROMPTS[s.side.prompt_language != "eng"], Point(s.score, s.interval))
            for s in of_model
        ]
        for of_model in models
    ]
    return dict([chart_column([ChartRow(of, named_points(of, bounds), lines) for of in points], bounds)])


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
