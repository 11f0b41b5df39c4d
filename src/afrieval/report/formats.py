"""The forms a table can take: Markdown, LaTeX, CSV, JSON, HTML, and the text of a terminal."""

import csv
import io
import json
import re
from collections.abc import Callable, Iterable
from html import escape
from pathlib import PurePath
from typing import Any

from afrieval.report.table import INTERVALS, WORDS, Table
from afrieval.report.values import Bounds
from afrieval.terminal import brief, console, one_line

# What begins a formula in a spreadsheet, which takes full-width signs too; -3.1 is a number.
_FORMULA = re.compile(r"\s*([=@＝＠＋－]|[+-](?!\d+(\.\d+)?\Z))")


def show(tables: Iterable[Table]) -> None:
    """Prints tables, each with an empty line below it."""
    screen = console()
    for table in tables:
        screen.print(table, crop=False)
        screen.print()


def text(table: Table) -> str:
    """Returns the table as a terminal of 80 columns shows it, without colours."""
    screen = console(file=io.StringIO(), width=80)
    screen.print(table, crop=False)
    return str(screen.file.getvalue())  # type: ignore[attr-defined]


def write(tables: list[Table], form: str) -> str:
    """Returns tables as one text.

    Args:
        tables: in order.
        form: one of `FORMATS`.
    """
    return FORMATS[form](tables)


def markdown(table: Table) -> str:
    """Returns the table in Markdown, under a heading."""
    sides = [":--" if column.form in WORDS else "--:" for column in table.seen]
    lines = [list(map(_md, table.heads)), sides, *(list(map(_md, line)) for line in table.cells())]
    rows = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    return "\n\n".join([f"## {_md(table.title)}", rows, *map(_md, [*table.findings, *table.notes])]) + "\n"


def _md(text: str) -> str:
    return re.sub(r"[\\`*_\[\]<>|&#~$]", r"\\\g<0>", brief(text))


def latex(table: Table) -> str:
    """Returns the table in LaTeX; it needs the package booktabs."""
    sides = "".join("l" if column.form in WORDS else "r" for column in table.seen)
    rows = [" & ".join(map(_tex, line)) + r" \\" for line in table.cells()]
    head = " & ".join(map(_tex, table.heads)) + r" \\"
    body = ["\\toprule", head, "\\midrule", *rows, "\\bottomrule"]
    caption = " ".join(map(_tex, [f"{table.title}.", *table.findings, *table.notes]))
    lines = ["\\begin{table}", f"\\caption{{{caption}}}", f"\\begin{{tabular}}{{{sides}}}", *body]
    return "\n".join([*lines, "\\end{tabular}", "\\end{table}"]) + "\n"


_NAMED = {"~": "asciitilde", "\\": "backslash", "^": "asciicircum", "<": "less", ">": "greater", "|": "bar"}
_SPECIAL = str.maketrans(
    {c: f"\\{c}" for c in "&%$#_{}"}
    | {c: f"\\text{name}{{}}" for c, name in _NAMED.items()}
    | {c: f"{{{c}}}" for c in "[]*"}  # after the end of a row, an option of it
    | {"\xa0": "~"}
)


def _tex(text: str) -> str:
    return re.sub("-(?=-)", "-{}", brief(text).translate(_SPECIAL))  # -- would become a dash


def html(table: Table) -> str:
    """Returns the table in HTML; all text is escaped."""
    sides = [f' style="text-align: {"left" if column.form in WORDS else "right"}"' for column in table.seen]
    head = _html_row("th", table.heads, sides)
    faint = ['<tr style="opacity: 0.6">' if at in table.dimmed else "<tr>" for at in range(len(table.rows))]
    rows = [_html_row("td", row, sides, tr) for row, tr in zip(table.cells(), faint, strict=True)]
    body = "\n".join(["<thead>", head, "</thead>", "<tbody>", *rows, "</tbody>"])
    below = [
        f"<p>{escape(text)}</p>" for text in (*map(brief, table.findings), " ".join(map(brief, table.notes))) if text
    ]
    return "\n".join([f"<table>\n<caption>{escape(brief(table.title))}</caption>\n{body}\n</table>", *below])


def _html_row(tag: str, texts: list[str], sides: list[str], tr: str = "<tr>") -> str:
    cells = "".join(f"<{tag}{side}>{escape(text)}</{tag}>" for text, side in zip(texts, sides, strict=True))
    return f"{tr}{cells}</tr>"


def as_json(tables: list[Table]) -> str:
    """Returns all tables with raw values."""
    whole = [{"title": t.title, "notes": [*t.findings, *t.notes], "rows": t.records()} for t in tables]
    return json.dumps(whole, indent=2)


def as_csv(tables: list[Table]) -> str:
    """Returns tables as CSV, an empty line between those that cannot be in one; intervals are in two columns.

    Texts are in one line, and one that a spreadsheet would take for a formula has an apostrophe before it.
    """
    return "\n".join(map(_one_csv, csv_parts(tables).values()))


def _one_csv(tables: list[Table]) -> str:
    rows = [{safe(k): safe(v) for k, v in record.items()} for table in tables for record in flat(table)]
    names = list(dict.fromkeys(name for row in rows for name in row))
    text = io.StringIO()
    writer = csv.DictWriter(text, names, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def csv_files(path: str, tables: list[Table]) -> dict[str, str]:
    """Returns the text of each file: one that is called `path`, or PATH-KIND.csv for each kind of table.

    Args:
        path: of a file; its suffix, if it has one, follows the kind.
        tables: in order.
    """
    parts = csv_parts(tables)
    if len(parts) < 2:
        return {path: as_csv(tables)}
    file = PurePath(path)
    return {str(file.with_name(f"{file.stem}-{name}{file.suffix}")): _one_csv(of) for name, of in parts.items()}


def csv_parts(tables: Iterable[Table]) -> dict[str, list[Table]]:
    """Returns tables by what they are in one CSV with: those of a kind whose columns are on the same scales.

    Names are the kind, with the scale where tables of a kind have several, as in `scores` and `scores-0-100`.
    """
    parts: dict[str, list[Table]] = {}
    units: dict[str, dict[str, Bounds]] = {}
    for table in tables:
        kind = re.sub(r"\W+", "-", table.kind)
        scales = [f"{low:g}-{high:g}" for low, high in dict.fromkeys(table.units.values())]
        for name in (kind, *(f"{kind}-{'-'.join(scales[:at])}" for at in range(1, len(scales) + 1))):
            known = units.setdefault(name, {})
            if all(known.get(column, bounds) == bounds for column, bounds in table.units.items()):
                known.update(table.units)
                parts.setdefault(name, []).append(table)
                break
    return parts


def safe(value: Any) -> Any:
    """Returns a cell that no spreadsheet runs as a formula.

    Tables are passed on and opened in spreadsheets, where a model's name such as `=HYPERLINK(...)` would be a program.
    Names that begin so are hardly ever meant, and JSON has them as they are. Numbers are no texts, and stay.
    """
    if not isinstance(value, str):
        return value
    text = one_line(value)
    return f"'{text}" if _FORMULA.match(text) else text


def flat(table: Table) -> list[dict[str, Any]]:
    """Returns the table's records, in which each interval is two values, and each list a text."""
    intervals = {column.key or column.name for column in table.columns if column.form in INTERVALS}
    return [_flat(record, intervals) for record in table.records()]


def _flat(record: dict[str, Any], intervals: set[str]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in record.items():
        if name in intervals:
            found[f"{name} low"], found[f"{name} high"] = value or (None, None)
        else:
            found[name] = " ".join(map(str, value)) if isinstance(value, list) else value
    return found


FORMATS: dict[str, Callable[[list[Table]], str]] = {
    "json": as_json,
    "csv": as_csv,
    "markdown": lambda tables: "\n".join(map(markdown, tables)),
    "latex": lambda tables: "\n".join(map(latex, tables)),
}
