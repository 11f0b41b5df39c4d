"""Tables as HTML."""

import math
from collections.abc import Mapping
from typing import Any

from markupsafe import Markup

from afrieval._util.terminal import brief
from afrieval.report.columns import WORDS, with_all_columns
from afrieval.report.html.frame import filter_attributes, fragment
from afrieval.report.table import Table

CARDS = ("best",)  # kinds of tables whose rows are cards where there is little room
Links = Mapping[str, Mapping[Any, str]]  # key of a column to its values to addresses


def table_html(
    table: Table, charts: Mapping[str, list[Markup]] | None = None, level: int = 3, links: Links | None = None
) -> Markup:
    """Returns a table under a heading, with findings above it and notes below.

    Rows are about the task, language and model in their columns or in what the table is about.

    `charts` has a head and a chart per row, as further columns after the first; `links` has addresses by column and
    value.
    """
    (table,), links = with_all_columns([table]), links or {}
    keys = [column.key or column.name for column in table.columns]
    numbers = [column.form not in WORDS for column in table.seen]
    rows = []
    for index, (row, texts) in enumerate(zip(table.rows, table.cells(), strict=True)):
        values = dict(zip(keys, row, strict=True))
        seen = [(k, v) for k, v, column in zip(keys, row, table.columns, strict=True) if column.is_seen]
        cells = [
            (text, is_number, _number(value), links.get(key, {}).get(value, ""))
            for (key, value), text, is_number in zip(seen, texts, numbers, strict=True)
        ]
        of_row = [charts_of[index] for charts_of in (charts or {}).values()]
        about = filter_attributes({**table.about, **values})
        rows.append({"attributes": about, "faint": index in table.dimmed, "cells": cells, "charts": of_row})
    return fragment(
        "table.html",
        attributes=filter_attributes(table.about),
        title=brief(table.title),
        cards=table.kind in CARDS,
        level=level,
        heads=list(zip(table.heads, numbers, strict=True)),
        charts=list(charts or {}),
        rows=rows,
        findings=[brief(text) for text in table.findings],
        notes=[brief(text) for text in [*table.notes, *table.legend]],
    )


def _number(value: Any) -> float | None:
    first = value[0] if isinstance(value, tuple) and value else value
    if isinstance(first, bool) or not isinstance(first, int | float) or math.isnan(first):
        return None
    return round(float(first), 6)
