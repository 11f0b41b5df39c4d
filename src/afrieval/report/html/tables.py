"""Tables as HTML, with a row for each model and both kinds of prompts; and matrices, whose rows are grouped."""

import math
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from markupsafe import Markup

from afrieval._util.grouping import grouped
from afrieval._util.terminal import brief
from afrieval.languages import LANGUAGES
from afrieval.report.columns import WORDS, with_all_columns
from afrieval.report.html.frame import filter_attributes, fragment
from afrieval.report.score_tables import WRITTEN
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
        cells = []
        for (key, value), text, is_number in zip(seen, texts, numbers, strict=True):
            first = value[0] if isinstance(value, tuple) and value else value  # by which rows are sorted
            sorts = isinstance(first, int | float) and not isinstance(first, bool) and not math.isnan(first)
            cells.append(
                (text, is_number, round(float(first), 6) if sorts else None, links.get(key, {}).get(value, ""))
            )
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


NUMBERS = ("score", "interval", "rank")  # forms of columns that a row has for each kind of prompts
KIND = "kind"  # a column that says which prompts a row is of: its heads do, except of published scores


def by_prompts(
    table: Table, sides: Sequence[tuple[Hashable, str]], published: Collection[int] = ()
) -> tuple[Table, list[list[int]]]:
    """Returns a table with a row for each model, and the rows that it is made of, those of English prompts first.

    Texts that differ are joined; of other columns, such as the number of documents, the first row counts. A table in
    which no model has both kinds of prompts stays as it is.

    Args:
        table: a row for each model and kind of prompts.
        sides: of each row, what it is about but for the language of its prompts, and that language.
        published: the rows of published scores.
    """
    models = list(grouped(range(len(sides)), lambda row: sides[row][0]).values())
    if all(len(of_model) == 1 for of_model in models):
        return table, [[at] for at in range(len(table.rows))]
    doubled = [at for at, column in enumerate(table.columns) if column.form in NUMBERS]
    single = [at for at, c in enumerate(table.columns) if at not in doubled and (c.key != KIND or published)]
    same = [
        at for at in single if at < doubled[0] and all(len({table.rows[row][at] for row in of}) == 1 for of in models)
    ]
    first = [at for at in single if at in same or table.columns[at].key == KIND]
    last = [at for at in single if at not in first]
    numbers = []
    for kind, written in WRITTEN.items():
        for column in (table.columns[at] for at in doubled):
            key = column.key or column.name
            head = {"mean": written, "score": f"{column.name}, {written}"}.get(key, column.name)
            numbers.append(column._replace(name=head.removeprefix("score, "), key=f"{kind} {key}"))
    rows = []
    for of_model in models:
        of_kinds = {sides[at][1]: table.rows[at] for at in of_model}
        doubles = [of_kinds[kind][at] if kind in of_kinds else None for kind in WRITTEN for at in doubled]
        shown = {}
        for index in single:
            values = list(dict.fromkeys(table.rows[row][index] for row in of_model))
            texts = sorted(value for value in values if isinstance(value, str))  # English prompts come first
            shown[index] = "; ".join(texts) if 1 < len(texts) == len(values) else values[0]
        if not {*of_model} & {*published}:
            shown |= {at: None for at in single if table.columns[at].key == KIND}
        rows.append([*(shown[at] for at in first), *doubles, *(shown[at] for at in last)])
    made_of = [sorted(of_model, key=lambda row: [*WRITTEN].index(sides[row][1])) for of_model in models]
    faint = [at for at, of_model in enumerate(models) if {*of_model} <= {*table.dimmed}]
    columns = [*(table.columns[at] for at in first), *numbers, *(table.columns[at] for at in last)]
    return replace(table, columns=columns, rows=rows, dimmed=faint), made_of


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
        attributes: what it is about, as `frame.filter_attributes` has it.
        covers: below the score, what it is of, if that is less than others.
    """

    text: str = ""
    interval: str = ""
    says: str = ""
    step: str = ""
    mark: str = ""
    key: float | None = None
    attributes: Markup = EMPTY
    covers: str = ""


class MatrixRow(NamedTuple):
    """A row of a matrix, under its name."""

    name: str
    cells: Sequence[MatrixCell]
    attributes: Markup = EMPTY


def matrix(
    title: str,
    corner: str,
    columns: Sequence[tuple[str, Markup]],
    groups: Mapping[str, Sequence[MatrixRow]],
    notes: Sequence[str] = (),
    attributes: Markup = EMPTY,
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
        attributes=attributes,
        open_=open_,
        many=len(columns) >= MANY,
        signs=SIGNS,
    )


def family_and_name(code: str) -> tuple[str, str]:
    """Returns a language's family and name, by which languages are sorted."""
    language = LANGUAGES.get(code)
    return (language.family, language.name) if language else ("other", code)


def by_family(codes: Iterable[str], line: Callable[[str], MatrixRow]) -> dict[str, list[MatrixRow]]:
    """Returns the rows of languages under their families."""
    families = grouped(sorted(codes, key=family_and_name), lambda code: family_and_name(code)[0])
    return {family: [line(code) for code in of_family] for family, of_family in families.items()}
