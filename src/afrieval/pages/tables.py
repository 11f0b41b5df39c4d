"""Tables as HTML: what `report.table.Table` holds, with what filters and sorting need."""

import math
from collections.abc import Mapping
from typing import Any

from markupsafe import Markup

from afrieval.pages.places import place
from afrieval.pages.shell import fragment
from afrieval.report.table import WORDS, Table
from afrieval.terminal import brief

Links = Mapping[str, Mapping[Any, str]]  # key of a column to its values to addresses


def table_html(
    table: Table, charts: Mapping[str, list[Markup]] | None = None, level: int = 3, links: Links | None = None
) -> Markup:
    """Returns a table under a heading, with findings above it and notes below.

    Rows are about the task, language and model in their columns or in what the table is about.

    Args:
        table: the table.
        charts: head to a chart per row, as further columns after the first.
        level: of the heading.
        links: addresses of pages about the values in some of the columns.
    """
    keys = [column.key or column.name for column in table.columns]
    numbers = [column.form not in WORDS for column in table.seen]
    rows = [
        {
            "place": place({**table.about, **dict(zip(keys, row, strict=True))}),
            "faint": at in table.dimmed,
            "cells": list(
                zip(texts, numbers, _sorted_by(row, table), _addresses(row, table, links or {}), strict=True)
            ),
            "charts": [of_row[at] for of_row in (charts or {}).values()],
        }
        for at, (row, texts) in enumerate(zip(table.rows, table.cells(), strict=True))
    ]
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


def _sorted_by(row: list[Any], table: Table) -> list[Any]:
    """Returns for each column for people what it is sorted by: a number, or None for its text."""
    return [_number(v) for v, column in zip(row, table.columns, strict=True) if column.form != "hidden"]


def _addresses(row: list[Any], table: Table, links: Links) -> list[str]:
    """Returns for each column for people the address of its value's page; empty if it has none."""
    pairs = [(v, column) for v, column in zip(row, table.columns, strict=True) if column.form != "hidden"]
    return [links[key].get(v, "") if (key := column.key or column.name) in links else "" for v, column in pairs]


def _number(value: Any) -> float | None:
    first = value[0] if isinstance(value, tuple) and value else value
    if isinstance(first, bool) or not isinstance(first, int | float) or math.isnan(first):
        return None
    return round(float(first), 6)
