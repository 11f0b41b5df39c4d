"""The content of a table: raw values in rows and columns, and how each form of column shows them."""

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, TypeVar

from afrieval._util.terminal import OF_A_CELL, brief, dollars
from afrieval.languages import LANGUAGES
from afrieval.report.values import (
    SHARE,
    Bounds,
    language_names,
    shown_change,
    shown_exact,
    shown_interval,
    shown_rank,
    shown_score,
    shown_time,
)
from afrieval.scoring.labels import words

# Forms that are aligned to the left, and broken where there is no room.
WORDS = ("text", "name", "derived", "branch", "language", "members")
INDENT = "\xa0\xa0"  # which HTML, Markdown and LaTeX keep
SCORES = ("score", "change", "interval", "limits", "changes")  # forms of numbers on the scale of a metric
INTERVALS = ("interval", "limits", "changes", "rank")  # pairs of numbers
FORMS: dict[str, Callable[[Any, Bounds], str]] = {
    "score": shown_score,
    "change": shown_change,
    "interval": shown_interval,
    "limits": shown_interval,
    "exact": lambda v, _: shown_exact(v),
    "changes": lambda v, bounds: f"{shown_change(v[0], bounds)} to {shown_change(v[1], bounds)}",
    "language": lambda v, _: LANGUAGES[v].name if v in LANGUAGES else v,
    "name": lambda v, _: v.replace("_", " "),
    "derived": lambda v, _: words(v),
    "branch": lambda v, _: f"{INDENT * v[0]}{v[1].replace('_', ' ')}",
    "members": lambda v, _: language_names(v, 3),
    "amount": lambda v, _: f"{v:,}",
    "ratio": lambda v, _: f"{v:.2f}",
    "time": lambda v, _: shown_time(v),
    "money": lambda v, _: dollars(v),
    "rank": lambda v, _: shown_rank(v),
    "p": lambda v, _: "<.001" if v < 0.001 else f"{v:.3f}".removeprefix("0"),
}


class Column(NamedTuple):
    """A column.

    Attributes:
        form: how values are shown: text, name, derived (a derived metric), branch (depth and name of a part of a part),
            language, members; score, exact (a number that may be tiny), change (a difference of scores), interval or
            changes (an interval, "none" where there is none), limits (an interval, blank where there is none), rank
            (best and worst), p, count, amount (a large count), ratio, time (in hours), money (in US dollars); or
            hidden, if it is for programs alone.
        key: its name for programs; the head if empty. "-" if it is for people alone.
        bounds: of scores, changes and intervals: lowest and highest score. Shares, 0 to 1, are shown in percent.
        says: what it means, where its name does not say enough; part of the legend.
        minor: whether people see it only if they ask for all metrics.
    """

    name: str
    form: str = "text"
    key: str = ""
    bounds: Bounds = SHARE
    says: str = ""
    minor: bool = False

    @property
    def is_seen(self) -> bool:
        """Whether people see it."""
        return self.form != "hidden" and not self.minor


def rows_of(columns: Sequence[Column], records: Iterable[Mapping[str, Any]]) -> list[list[Any]]:
    """Returns a row for each record: its value for each column; None where it has none.

    Columns for people alone have their values under `shown` and the head.
    """
    keys = [f"shown {column.name}" if column.key == "-" else column.key or column.name for column in columns]
    return [[record.get(key) for key in keys] for record in records]


@dataclass(frozen=True)
class TableContent:
    """The content of a table, without the forms it can take.

    Attributes:
        kind: what sort of table it is, for programs.
        rows: raw values, one per column; None where there is none.
        notes: sentences on these numbers, shown below the table as one paragraph.
        findings: sentences on what it shows, above the table, each on a line of its own.
        signs: sentences on what marks mean, which are the same in other tables.
        marks: language, or a word, to the sign that follows it.
        dimmed: rows of numbers that are not of the runs, which a terminal shows fainter.
        ends: rows that a terminal puts a blank line under.
        shades: row and place among the columns for people to a share from 0 to 1: how a terminal colours that cell.
    """

    kind: str
    title: str
    columns: list[Column]
    rows: list[list[Any]]
    notes: list[str] = field(default_factory=list)
    findings: list[str] = field(default_factory=list)
    about: dict[str, Any] = field(default_factory=dict)
    signs: Sequence[str] = ()
    marks: Mapping[str, str] = field(default_factory=dict)
    dimmed: Collection[int] = ()
    ends: Collection[int] = ()
    shades: Mapping[tuple[int, int], float] = field(default_factory=dict)

    @property
    def seen(self) -> list[Column]:
        """The columns that are shown; the others are for programs."""
        return [column for column in self.columns if column.is_seen]

    @property
    def legend(self) -> list[str]:
        """What columns and marks mean, a sentence each; commands print it once, after all tables."""
        return list(dict.fromkeys([*(f"{c.name}: {c.says}." for c in self.seen if c.says), *self.signs]))

    @property
    def heads(self) -> list[str]:
        """Their names, each in one line."""
        return [brief(column.name, OF_A_CELL) for column in self.seen]

    def cells(self) -> list[list[str]]:
        """Returns all rows as texts of one line, in the columns that are shown."""
        rows = [zip(row, self.columns, strict=True) for row in self.rows]
        return [
            [
                brief(shown(value, column), OF_A_CELL)
                + (self.marks.get(value, "") if column.form in ("language", "text") and isinstance(value, str) else "")
                for value, column in row
                if column.is_seen
            ]
            for row in rows
        ]

    @property
    def units(self) -> dict[str, Bounds]:
        """The lowest and highest value on the scale of each column of scores, by the column's name for programs."""
        return {column.key or column.name: column.bounds for column in self.columns if column.form in SCORES}

    def records(self) -> list[dict[str, Any]]:
        """Returns a map per row with raw values; what the whole table is about is in each."""
        keys = [column.key or column.name for column in self.columns]
        rows = [{k: v for k, v in zip(keys, row, strict=True) if k != "-"} for row in self.rows]
        return [{"table": self.kind, **self.about, **row} for row in rows]


T = TypeVar("T", bound=TableContent)


def with_all_columns(tables: Iterable[T]) -> list[T]:
    """Returns tables in which people see all metrics."""
    return [replace(table, columns=[column._replace(minor=False) for column in table.columns]) for table in tables]


def shown(value: Any, column: Column) -> str:
    """Returns a value as people read it."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return "none" if column.form in ("interval", "changes") else ""
    form = FORMS.get(column.form)
    return form(value, column.bounds) if form else str(value)
