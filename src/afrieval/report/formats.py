"""Writes tables as Markdown, LaTeX, CSV, JSON or HTML, and shows them in a terminal."""

import csv
import io
import json
import logging
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from html import escape
from pathlib import Path
from typing import Any, TypeVar

from rich.box import SIMPLE_HEAD
from rich.cells import cell_len
from rich.table import Table as Screen

from afrieval._util.terminal import LONG, brief, console, one_line, styled
from afrieval.report.columns import INTERVALS, WORDS, TableContent, with_all_columns
from afrieval.report.values import Bounds, broken

log = logging.getLogger("afrieval")

T = TypeVar("T", bound=TableContent)
COLOURFUL = ("256", "truecolor")  # systems of colours of rich that do not depend on the terminal's own
# What begins a formula in a spreadsheet, which takes full-width signs too; -3.1 is a number.
_FORMULA = re.compile(r"\s*([=@＝＠＋－]|[+-](?!\d+(\.\d+)?\Z))")


def show(tables: Sequence[TableContent], last: Sequence[str] = (), screen: Any = None) -> None:
    """Prints tables, each with an empty line below it, then what their columns and marks mean, and further lines.

    Notes that scores of a task share with the table after them, such as of their differences, are printed once.
    """
    screen = screen or console()
    coloured = screen.color_system in COLOURFUL and not screen.no_color
    before: Sequence[str] = []
    scores: object = None
    for whole in tables:
        log.debug("table: %s, %d rows", whole.title, len(whole.rows))
        printed = before if scores and whole.about.get("task") == scores else []
        table = replace(whole, notes=[note for note in whole.notes if note not in printed])
        before, scores = whole.notes, whole.about.get("task") if whole.kind == "scores" else None
        for part in [*terminal(table, screen.width, coloured), ""]:
            screen.print(part, crop=False)
    if lines := [*legend_of(tables), *last]:
        for line in [*lines, ""]:
            screen.print(styled(brief(line), "table.caption"))


def show_tables(tables: Sequence[TableContent]) -> None:
    """Prints tables, and says how to see the metrics that they leave out."""
    minor = dict.fromkeys(column.name for table in tables for column in table.columns if column.minor)
    show(tables, [f"--all-metrics also shows {', '.join(minor)}."] if minor else [])


def legend_of(tables: Iterable[TableContent]) -> list[str]:
    """Returns what columns and marks of tables mean, each once."""
    return list(dict.fromkeys(line for table in tables for line in table.legend))


def text(tables: Sequence[TableContent]) -> str:
    """Returns tables as a terminal of 80 columns shows them, without colours."""
    screen = console(file=io.StringIO(), width=80)
    show(tables, screen=screen)
    return f"{screen.file.getvalue().rstrip()}\n"  # type: ignore[attr-defined]


def write(tables: Sequence[TableContent], form: str) -> str:
    """Returns tables as one text, in one of `FORMATS`."""
    return FORMATS[form](tables)


def markdown(table: TableContent) -> str:
    """Returns the table in Markdown, under a heading."""
    sides = [":--" if column.form in WORDS else "--:" for column in table.seen]
    lines = [list(map(_md, table.heads)), sides, *(list(map(_md, line)) for line in table.cells())]
    rows = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    parts = [f"## {_md(table.title)}", *map(_md, table.findings), rows, *map(_md, table.notes)]
    return "\n\n".join(parts) + "\n"


def _md(text: str) -> str:
    return re.sub(r"[\\`*_\[\]<>|&#~$]", r"\\\g<0>", brief(text))


def latex(table: TableContent) -> str:
    """Returns the table in LaTeX; it needs the package booktabs."""
    sides = "".join("l" if column.form in WORDS else "r" for column in table.seen)
    rows = [" & ".join(map(_tex, line)) + r" \\" for line in table.cells()]
    head = " & ".join(map(_tex, table.heads)) + r" \\"
    body = ["\\toprule", head, "\\midrule", *rows, "\\bottomrule"]
    caption = " ".join(map(_tex, [f"{table.title}.", *table.findings, *table.notes, *table.legend]))
    label = re.sub("[^a-z0-9]+", "-", f"{table.kind} {table.title}"[:LONG].lower()).strip("-")
    lines = ["\\begin{table}", "\\centering", f"\\caption{{{caption}}}", f"\\label{{tab:{label}}}"]
    lines += [f"\\begin{{tabular}}{{{sides}}}", *body]
    return "\n".join([*lines, "\\end{tabular}", "\\end{table}"]) + "\n"


_NAMED = {"~": "asciitilde", "\\": "backslash", "^": "asciicircum", "<": "less", ">": "greater", "|": "bar"}
_SPECIAL = str.maketrans(
    {c: f"\\{c}" for c in "&%$#_{}"}
    | {c: f"\\text{name}{{}}" for c, name in _NAMED.items()}
    | {c: f"{{{c}}}" for c in "[]*"}  # after the end of a row, an option of it
    | {"\xa0": "~"}
)


def _tex(text: str) -> str:
    text = re.sub("-(?=-)", "-{}", brief(text).translate(_SPECIAL))  # -- would become a dash
    return re.sub(r"\u2212|(?<![^\s({}/])-(?=\.?\d)", "$-$", text)


def html(tables: Sequence[TableContent]) -> str:
    """Returns tables in HTML; all text is escaped."""
    return "\n".join([*map(_html, tables), *(f"<p>{escape(brief(line))}</p>" for line in legend_of(tables))])


def _html(table: TableContent) -> str:
    sides = [f' style="text-align: {"left" if column.form in WORDS else "right"}"' for column in table.seen]
    head = _html_row("th", table.heads, sides)
    faint = ['<tr style="opacity: 0.6">' if at in table.dimmed else "<tr>" for at in range(len(table.rows))]
    rows = [_html_row("td", row, sides, tr) for row, tr in zip(table.cells(), faint, strict=True)]
    body = "\n".join(["<thead>", head, "</thead>", "<tbody>", *rows, "</tbody>"])
    below = [f"<p>{escape(' '.join(map(brief, table.notes)))}</p>"] if table.notes else []
    above = "<br>".join(escape(brief(line)) for line in [table.title, *table.findings])
    return "\n".join([f"<table>\n<caption>{above}</caption>\n{body}\n</table>", *below])


def _html_row(tag: str, texts: list[str], sides: list[str], tr: str = "<tr>") -> str:
    cells = "".join(f"<{tag}{side}>{escape(text)}</{tag}>" for text, side in zip(texts, sides, strict=True))
    return f"{tr}{cells}</tr>"


def as_json(tables: Sequence[TableContent]) -> str:
    """Returns all tables with raw values."""
    whole_tables = with_all_columns(tables)
    whole = [{"title": t.title, "notes": [*t.findings, *t.notes, *t.legend], "rows": t.records()} for t in whole_tables]
    return json.dumps(whole, indent=2)


def as_csv(tables: Sequence[TableContent]) -> str:
    """Returns tables as CSV, an empty line between those that cannot be in one; intervals are in two columns.

    Texts are in one line, and one that a spreadsheet would take for a formula has an apostrophe before it.
    """
    return "\n".join(map(_one_csv, csv_parts(tables).values()))


def _one_csv(tables: Sequence[TableContent]) -> str:
    rows = [{safe(k): safe(v) for k, v in record.items()} for table in tables for record in flat(table)]
    names = list(dict.fromkeys(name for row in rows for name in row))
    text = io.StringIO()
    writer = csv.DictWriter(text, names, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def csv_files(path: str, tables: Sequence[TableContent]) -> dict[str, str]:
    """Returns the text of each file: one that is called `path`, or PATH-KIND.csv for each kind of table.

    In a folder, a file is called KIND.csv; a device, such as /dev/stdout, gets all tables.
    """
    parts, file = csv_parts(tables), Path(path)
    if file.is_dir():
        return {str(file / f"{name}.csv"): _one_csv(of) for name, of in parts.items()}
    if len(parts) < 2 or (file.exists() and not file.is_file()):
        return {path: as_csv(tables)}
    return {str(file.with_name(f"{file.stem}-{name}{file.suffix}")): _one_csv(of) for name, of in parts.items()}


def csv_parts(tables: Iterable[T]) -> dict[str, list[T]]:
    """Groups tables that can share a CSV file: of one kind, with columns on the same scales.

    Names are the kind, with the scale where tables of a kind have several, as in `scores` and `scores-0-100`.
    """
    parts: dict[str, list[T]] = {}
    units: dict[str, dict[str, Bounds]] = {}
    for table in tables:
        kind = re.sub(r"\W+", "-", table.kind)
        scales = [f"{low:g}-{high:g}" for low, high in dict.fromkeys(table.units.values())]
        for name in (kind, *(f"{kind}-{'-'.join(scales[:at])}" for at in range(1, len(scales) + 1))):
            scale_of = units.setdefault(name, {})
            if all(scale_of.get(column, bounds) == bounds for column, bounds in table.units.items()):
                scale_of.update(table.units)
                parts.setdefault(name, []).append(table)
                break
    return parts


def safe(value: Any) -> Any:
    """Returns a cell that no spreadsheet runs as a formula.

    Tables are passed on and opened in spreadsheets, where a model's name such as `=HYPERLINK(...)` would be a program.
    JSON has such names as they are. Numbers stay numbers.
    """
    if not isinstance(value, str):
        return value
    text = one_line(value)
    return f"'{text}" if _FORMULA.match(text) else text


def flat(table: TableContent) -> list[dict[str, Any]]:
    """Returns the table's records, in which each interval is two values, and each list a text."""
    intervals = {column.key or column.name for column in table.columns if column.form in INTERVALS}
    rows: list[dict[str, Any]] = []
    for record in table.records():
        rows.append({})
        for name, value in record.items():
            if name in intervals:
                rows[-1][f"{name} low"], rows[-1][f"{name} high"] = value or (None, None)
            else:
                rows[-1][name] = " ".join(map(str, value)) if isinstance(value, list) else value
    return rows


FORMATS: dict[str, Callable[[Sequence[TableContent]], str]] = {
    "json": as_json,
    "csv": as_csv,
    "markdown": lambda tables: "\n".join([*map(markdown, tables), "\n\n".join(map(_md, legend_of(tables)))]),
    "latex": lambda tables: "\n".join(map(latex, tables)),
}


BETWEEN, NARROWEST = 2, 10  # blanks between columns; what a column of names has at least
# From the lowest score to the highest: number of a background in the palette of 256 colours, and of the text on it.
# All pairs have a contrast of 4.5 or more, whatever the colours of the terminal.
SHADES = ((17, 231), (18, 231), (24, 231), (30, 16), (72, 16), (149, 16), (185, 16), (228, 16))
SCALE = "Colours: dark is the lowest score of a task, light the highest."
Lines = list[list[str]]  # of each column, its head and its cells


def terminal(table: TableContent, width: int, coloured: bool = False) -> Iterator[Any]:
    """Yields the table for a terminal; only a `console` of ours takes its text as it is.

    Numbers are never cut: their heads are broken into lines. If that is not enough, columns are one blank apart
    instead of two, and names get the room that numbers leave; if not even that, the table is folded: it goes on below,
    with its names again.
    """
    yield styled(brief(table.title), "table.title")
    yield from (styled(brief(finding)) for finding in table.findings)
    yield from _drawn(table, width, coloured) if table.rows else ()
    if notes := [*table.notes, *([SCALE] if coloured and table.shades else [])]:
        yield styled(" ".join(map(brief, notes)), "table.caption")


def _drawn(table: TableContent, width: int, coloured: bool) -> Iterator[Screen | str]:
    columns = [[head, *texts] for head, *texts in zip(table.heads, *table.cells(), strict=True)]
    names = [at for at, column in enumerate(table.seen) if column.form in WORDS]
    between = BETWEEN
    if _width(columns, between) > width:
        for index in {*range(len(columns))} - {*names}:
            head, *numbers = columns[index]
            columns[index] = [broken(head, max(_longest(numbers) if numbers else 0, NARROWEST)), *numbers]
        between = 1 if _width(columns, 1) <= width < _width(columns, between) else between
    fitted = _fitted(columns, names, width, between)
    if _width(fitted, between) > width:
        between = 1
        fitted = _fitted(columns, names, width, between)
    repeated = next((at for at in range(len(fitted)) if at not in names), len(fitted))
    if _width(fitted, between) > width:  # names at the left are in each part, and may have half of it
        fitted = [*_fitted(columns[:repeated], range(repeated), width // 2, between), *fitted[repeated:]]
    for number, block in enumerate(_blocks(fitted, repeated, width, between)):
        if number:
            yield ""
        yield _screen(table, fitted, block, names, between, coloured)


def _screen(
    table: TableContent, fitted: Lines, block: Sequence[int], names: Sequence[int], between: int, coloured: bool
) -> Screen:
    drawn = Screen(box=SIMPLE_HEAD, pad_edge=False, show_edge=False, padding=(0, between - 1, 0, 0))
    drawn.width = _width([fitted[at] for at in block], between)
    for index in block:
        side: Any = "left" if index in names else "right"
        drawn.add_column(fitted[index][0], justify=side, no_wrap=index not in names, overflow="fold")
    for number in range(len(table.rows)):
        cells: list[Any] = [fitted[at][number + 1] for at in block]
        for position, index in enumerate(block):
            if coloured and (share := table.shades.get((number, index))) is not None:
                back, front = SHADES[min(int(share * len(SHADES)), len(SHADES) - 1)]
                cells[position] = styled(cells[position], f"color({front}) on color({back})")
        drawn.add_row(*cells, style="dim" if number in table.dimmed else None, end_section=number in table.ends)
    return drawn


def _width(columns: Lines, between: int) -> int:
    return sum(map(_longest, columns)) + between * (len(columns) - 1)


def _longest(texts: Sequence[str]) -> int:
    return max(cell_len(line) for text in texts for line in text.split("\n"))


def _fitted(columns: Lines, names: Sequence[int], width: int, between: int) -> Lines:
    """Breaks names, the widest first, until all columns fit the terminal, or none can be broken."""
    fitted, widths = list(columns), [_longest(column) for column in columns]
    while names and (excess := sum(widths) + between * (len(widths) - 1) - width) > 0:
        widest = max(names, key=lambda index: widths[index])
        next_widest = max((widths[at] for at in names if at != widest), default=0)
        most = min(max(widths[widest] - excess, next_widest, NARROWEST), widths[widest] - 1)
        if most < NARROWEST:
            break
        fitted[widest] = []
        for text in columns[widest]:  # what has no place to be broken at is cut
            lines = broken(text, most).split("\n")
            cut = (line[at : at + most] for line in lines for at in range(0, max(len(line), 1), most))
            fitted[widest].append("\n".join(cut))
        widths[widest] = _longest(fitted[widest])
    return fitted


def _blocks(fitted: Lines, repeated: int, width: int, between: int) -> Iterator[list[int]]:
    """Yields the columns that fit next to each other; the first ones, of names, are in each block."""
    block = list(range(repeated))
    for index in range(repeated, len(fitted)):
        if len(block) > repeated and _width([fitted[of] for of in (*block, index)], between) > width:
            yield block
            block = list(range(repeated))
        block.append(index)
    yield block
