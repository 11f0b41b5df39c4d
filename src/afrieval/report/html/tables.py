"""Tables as HTML, and matrices with a score in each cell."""

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from markupsafe import Markup

from afrieval._util.terminal import brief
from afrieval.report.columns import WORDS
from afrieval.report.html.frame import fragment, place
from afrieval.report.table import Table

Links = Mapping[str, Mapping[Any, str]]  # key of a column to its values to addresses


def table_html(
    table: Table, charts: Mapping[str, list[Markup]] | None = None, level: int = 3, links: Links | None = None
) -> Markup:
    """Returns a table under a heading, with findings above it and notes below.

    Rows are about the task, language and model in their columns or in what the table is about.

    `charts` has a head and a chart per row, as further columns after the first; `links` has addresses by column and
    value.
    """
    links = links or {}
    keys = [column.key or column.name for column in table.columns]
    numbers = [column.form not in WORDS for column in table.seen]
    rows = []
    for at, (row, texts) in enumerate(zip(table.rows, table.cells(), strict=True)):
        known = dict(zip(keys, row, strict=True))
        seen = [(k, v) for k, v, column in zip(keys, row, table.columns, strict=True) if column.form != "hidden"]
        cells = [
            (text, is_number, _number(value), links[key].get(value, "") if key in links else "")
            for (key, value), text, is_number in zip(seen, texts, numbers, strict=True)
        ]
        of_row = [charts_of[at] for charts_of in (charts or {}).values()]
        about = place({**table.about, **known})
        rows.append({"place": about, "faint": at in table.dimmed, "cells": cells, "charts": of_row})
    return fragment(
        "table.html",
        place=place(table.about),
        title=brief(table.title),
        level=level,
        heads=list(zip(table.heads, numbers, strict=True)),
        charts=list(charts or {}),
        rows=rows,
        findings=[brief(text) for text in table.findings],
        notes=[brief(text) for text in table.notes],
    )


def _number(value: Any) -> float | None:
    first = value[0] if isinstance(value, tuple) and value else value
    if isinstance(first, bool) or not isinstance(first, int | float) or math.isnan(first):
        return None
    return round(float(first), 6)


EMPTY = Markup("")
MANY = 8  # columns from which their names are written vertically
SIGNS = {  # what a cell's mark looks like, and what it says
    "best": ("★", "highest"),
    "alike": ("≈", "cannot be told apart from the highest"),
    "up": ("▲", "native prompts help"),
    "down": ("▼", "native prompts hurt"),
}


class MatrixCell(NamedTuple):
    """A cell of a matrix.

    Attributes:
        text: the score; empty if there is none.
        interval: next to it or below it, on request.
        says: what else is known of it, shown when it is pointed at.
        step: class of its colour; empty for none.
        mark: one of `SIGNS`, or empty.
        key: what rows are sorted by.
        place: what it is about, as `places.place` has it.
        covers: below the score, what it is of, if that is less than others.
    """

    text: str = ""
    interval: str = ""
    says: str = ""
    step: str = ""
    mark: str = ""
    key: float | None = None
    place: Markup = EMPTY
    covers: str = ""


class MatrixRow(NamedTuple):
    """A row of a matrix, under its name."""

    name: str
    cells: Sequence[MatrixCell]
    place: Markup = EMPTY


def matrix(
    title: str,
    corner: str,
    columns: Sequence[tuple[str, Markup]],
    groups: Mapping[str, Sequence[MatrixRow]],
    notes: Sequence[str] = (),
    place: Markup = EMPTY,
    open_: bool = False,
) -> Markup:
    """Returns a matrix under a heading.

    `groups` has rows under what they have in common; an empty name is not shown. `open_` always shows intervals.
    """
    return fragment(
        "matrix.html",
        title=title,
        corner=corner,
        columns=columns,
        groups=groups,
        notes=notes,
        place=place,
        open_=open_,
        many=len(columns) >= MANY,
        signs=SIGNS,
    )
