"""A table of raw values, and the forms it can be written in: terminal, Markdown, LaTeX, CSV, JSON."""

import csv
import io
import math
import re
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from rich.table import Table

from afrieval.languages import LANGUAGES
from afrieval.report.scores import STYLE, broken, percent, points
from afrieval.terminal import one_line

WORDS = ("text", "id", "name", "language", "members")
# What begins a formula in a spreadsheet, which takes wide signs for the others; -3.1 is a number.
_FORMULA = re.compile(r"\s*([=@＝＠＋－]|[+-](?!\d+(\.\d+)?\Z))")
ID_WIDTH = 12  # of names with underscores in a terminal, which are broken after these


class Column(NamedTuple):
    """A column.

    Attributes:
        name: its head.
        form: how values are shown: text, id, name, language, members, percent, decimal (percent of a
            share that was printed in percent: 0.6515 is 65.2), points, interval, limits (an interval, blank where there
            is none), difference, p, count; or hidden, if it is for programs alone.
        key: its name for programs; the head if empty. "-" if it is for people alone.
    """

    name: str
    form: str = "text"
    key: str = ""


@dataclass(frozen=True)
class Grid:
    """A table.

    Attributes:
        kind: what sort of table it is, for programs.
        rows: raw values, one per column; None where there is none.
        notes: sentences below it.
        about: what else is known of it, for programs.
        starred: languages whose names get a star.
        dimmed: rows of numbers that are not of the runs, which a terminal shows fainter.
        ends: rows that a terminal puts a blank line under.
    """

    kind: str
    title: str
    columns: list[Column]
    rows: list[list[Any]]
    notes: list[str] = field(default_factory=list)
    about: dict[str, Any] = field(default_factory=dict)
    starred: Collection[str] = ()
    dimmed: Collection[int] = ()
    ends: Collection[int] = ()

    @property
    def seen(self) -> list[Column]:
        """The columns for people."""
        return [column for column in self.columns if column.form != "hidden"]

    @property
    def heads(self) -> list[str]:
        """Their names, each in one line."""
        return [one_line(column.name) for column in self.seen]


def shown(value: Any, form: str) -> str:
    """Returns a value as people read it: shares in percent, differences in points."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return "none" if form in ("interval", "difference") else ""
    forms: dict[str, Callable[[Any], str]] = {
        "percent": lambda v: percent(v),
        "decimal": lambda v: f"{round(100 * v, 6):.1f}",
        "points": lambda v: points(v),
        "interval": lambda v: f"{percent(v[0])}-{percent(v[1])}",
        "limits": lambda v: f"{percent(v[0])}-{percent(v[1])}",
        "difference": lambda v: f"{points(v[0])} to {points(v[1])}",
        "language": lambda v: LANGUAGES[v].name if v in LANGUAGES else v,
        "name": lambda v: v.replace("_", " "),
        "members": lambda v: " ".join(v) if len(v) <= 4 else f"{' '.join(v[:3])} ...",
        "p": lambda v: "<.001" if v < 0.001 else f"{v:.3f}".removeprefix("0"),
    }
    return forms.get(form, str)(value)


def cells(grid: Grid) -> list[list[str]]:
    """Returns all rows as texts of one line, in the columns for people."""
    rows = [zip(row, grid.columns, strict=True) for row in grid.rows]
    return [[_cell(grid, value, column) for value, column in row if column.form != "hidden"] for row in rows]


def _cell(grid: Grid, value: Any, column: Column) -> str:
    text = one_line(shown(value, column.form))
    return f"{text}*" if column.form == "language" and value in grid.starred else text


def terminal(grid: Grid) -> Table:
    """Returns the table for a terminal of 80 columns; only a `console` of ours takes its text as it is."""
    table = Table(title=one_line(grid.title), caption=one_line(" ".join(grid.notes)), **STYLE)
    for name, column in zip(
        grid.heads, grid.seen, strict=True
    ):  # names are broken where there is no room, numbers never
        words = column.form in WORDS
        table.add_column(name, justify="left" if words else "right", no_wrap=not words, overflow="fold")
    for number, row in enumerate(cells(grid)):
        texts = [broken(t, ID_WIDTH) if c.form == "id" else t for t, c in zip(row, grid.seen, strict=True)]
        style = "dim" if number in grid.dimmed else None
        table.add_row(*texts, style=style, end_section=number in grid.ends)
    return table


def markdown(grid: Grid) -> str:
    """Returns the table in Markdown, under a heading."""
    sides = [":--" if c.form in WORDS else "--:" for c in grid.seen]
    lines = [list(map(_md, grid.heads)), sides, *(list(map(_md, line)) for line in cells(grid))]
    table = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    return "\n\n".join([f"## {_md(grid.title)}", table, *map(_md, grid.notes)]) + "\n"


def _md(text: str) -> str:
    return re.sub(r"[\\`*_\[\]<>|&#~$]", r"\\\g<0>", one_line(text))


def latex(grid: Grid) -> str:
    """Returns the table in LaTeX; it needs the package booktabs."""
    form = "".join("l" if c.form in WORDS else "r" for c in grid.seen)
    rows = [" & ".join(map(_tex, line)) + r" \\" for line in cells(grid)]
    head = " & ".join(map(_tex, grid.heads)) + r" \\"
    body = ["\\toprule", head, "\\midrule", *rows, "\\bottomrule"]
    caption = _tex(" ".join([f"{grid.title}.", *grid.notes]))
    lines = ["\\begin{table}", f"\\caption{{{caption}}}", f"\\begin{{tabular}}{{{form}}}", *body]
    return "\n".join([*lines, "\\end{tabular}", "\\end{table}"]) + "\n"


_NAMED = {"~": "asciitilde", "\\": "backslash", "^": "asciicircum", "<": "less", ">": "greater", "|": "bar"}
_SPECIAL = str.maketrans(
    {c: f"\\{c}" for c in "&%$#_{}"}
    | {c: f"\\text{name}{{}}" for c, name in _NAMED.items()}
    | {c: f"{{{c}}}" for c in "[]*"}  # after the end of a row, an option of it
)


def _tex(text: str) -> str:
    return re.sub("-(?=-)", "-{}", one_line(text).translate(_SPECIAL))  # -- would become a dash


def records(grid: Grid) -> list[dict[str, Any]]:
    """Returns a map per row with raw values, for JSON and CSV; what the whole table is about is in each."""
    rows = [{c.key or c.name: v for c, v in zip(grid.columns, row, strict=True) if c.key != "-"} for row in grid.rows]
    return [{"table": grid.kind, **grid.about, **row} for row in rows]


def as_csv(grids: list[Grid]) -> str:
    """Returns all tables as one, with a column for each name that occurs; intervals in two columns.

    Texts are in one line, and one that a spreadsheet would take for a formula has an apostrophe before it.
    """
    flat = [{_safe(k): _safe(v) for k, v in _flat(r).items()} for grid in grids for r in records(grid)]
    names = list(dict.fromkeys(name for record in flat for name in record))
    text = io.StringIO()
    writer = csv.DictWriter(text, names, lineterminator="\n")
    writer.writeheader()
    writer.writerows(flat)
    return text.getvalue()


def _safe(value: Any) -> Any:
    """Returns a cell that no spreadsheet runs as a formula.

    Tables are passed on and opened in spreadsheets, where a model's name such as `=HYPERLINK(...)` would be a program.
    Names that begin so are hardly ever meant, and JSON has them as they are. Numbers are no texts, and stay.
    """
    if not isinstance(value, str):
        return value
    text = one_line(value)
    return f"'{text}" if _FORMULA.match(text) else text


def _flat(record: dict[str, Any]) -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for name, value in record.items():
        if isinstance(value, tuple) and len(value) == 2:
            flat |= {f"{name} low": value[0], f"{name} high": value[1]}
        else:
            flat[name] = " ".join(map(str, value)) if isinstance(value, list) else value
    return flat
