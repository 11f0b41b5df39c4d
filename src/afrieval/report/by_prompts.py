"""A row for each model, with its numbers under English and under native prompts."""

from collections.abc import Collection, Hashable, Sequence
from dataclasses import replace
from typing import Any

from afrieval._util.grouping import grouped
from afrieval.report.columns import Column
from afrieval.report.score_tables import WRITTEN
from afrieval.report.table import Table

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
    numbers = [_of_kind(table.columns[at], kind) for kind in WRITTEN for at in doubled]
    rows = []
    for of_model in models:
        of_kinds = {sides[at][1]: table.rows[at] for at in of_model}
        values = [of_kinds[kind][at] if kind in of_kinds else None for kind in WRITTEN for at in doubled]
        shown = {at: _joined(table, of_model, at) for at in single}
        if not {*of_model} & {*published}:
            shown |= {at: None for at in single if table.columns[at].key == KIND}
        rows.append([*(shown[at] for at in first), *values, *(shown[at] for at in last)])
    made_of = [sorted(of_model, key=lambda row: [*WRITTEN].index(sides[row][1])) for of_model in models]
    faint = [at for at, of_model in enumerate(models) if {*of_model} <= {*table.dimmed}]
    columns = [*(table.columns[at] for at in first), *numbers, *(table.columns[at] for at in last)]
    return replace(table, columns=columns, rows=rows, dimmed=faint), made_of


def _of_kind(column: Column, kind: str) -> Column:
    key = column.key or column.name
    head = {"mean": WRITTEN[kind], "score": f"{column.name}, {WRITTEN[kind]}"}.get(key, column.name)
    return column._replace(name=head.removeprefix("score, "), key=f"{kind} {key}")


def _joined(table: Table, rows: Sequence[int], column: int) -> Any:
    values = list(dict.fromkeys(table.rows[row][column] for row in rows))
    texts = sorted(value for value in values if isinstance(value, str))  # English prompts come before native ones
    return "; ".join(texts) if 1 < len(texts) == len(values) else values[0]
