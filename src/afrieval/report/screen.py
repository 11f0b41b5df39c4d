"""Tables in a terminal: fitted to its width, and with colours where it has them."""

from collections.abc import Iterator, Sequence
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.cells import cell_len
from rich.table import Table as Screen

from afrieval.report.table import WORDS, Table
from afrieval.report.values import broken
from afrieval.terminal import brief, styled

BETWEEN, NARROWEST = 2, 10  # blanks between columns; what a column of names has at least
# From the lowest score to the highest: number of a background in the palette of 256 colours, and of the text on it.
# All pairs have a contrast of 4.5 or more, whatever the colours of the terminal.
SHADES = ((17, 231), (18, 231), (24, 231), (30, 16), (72, 16), (149, 16), (185, 16), (228, 16))
SCALE = "Colours: dark is the lowest score of a task, light the highest."
Lines = list[list[str]]  # of each column, its head and its cells


def terminal(table: Table, width: int, coloured: bool = False) -> Iterator[Any]:
    """Yields the table for a terminal; only a `console` of ours takes its text as it is.

    Numbers are never cut: their heads are broken into lines, and names get the room that they leave. If that is not
    enough, columns are one blank apart instead of two; if not even that, the table is folded: it goes on below, with
    its names again.

    Args:
        table: the table.
        width: of the terminal.
        coloured: whether the terminal has 256 colours.
    """
    yield styled(brief(table.title), "table.title")
    yield from _drawn(table, width, coloured)
    yield from (styled(brief(finding)) for finding in table.findings)
    if notes := [*table.notes, *([SCALE] if coloured and table.shades else [])]:
        yield styled(" ".join(map(brief, notes)), "table.caption")


def _drawn(table: Table, width: int, coloured: bool) -> Iterator[Screen | str]:
    columns = [[head, *texts] for head, *texts in zip(table.heads, *table.cells(), strict=True)]
    names = [at for at, column in enumerate(table.seen) if column.form in WORDS]
    between = BETWEEN
    if _width(columns, between) > width:
        columns = [lines if at in names else _narrow(lines) for at, lines in enumerate(columns)]
    fitted = _fitted(columns, names, width, between)
    if _width(fitted, between) > width:
        between = 1
        fitted = _fitted(columns, names, width, between)
    kept = next((at for at in range(len(fitted)) if at not in names), len(fitted))
    if _width(fitted, between) > width:  # names at the left are in each part, and may have half of it
        fitted = [*_fitted(columns[:kept], range(kept), width // 2, between), *fitted[kept:]]
    for number, block in enumerate(_blocks(fitted, kept, width, between)):
        if number:
            yield ""
        yield _screen(table, fitted, block, names, between, coloured)


def _screen(
    table: Table, fitted: Lines, block: Sequence[int], names: Sequence[int], between: int, coloured: bool
) -> Screen:
    drawn = Screen(box=SIMPLE_HEAD, pad_edge=False, show_edge=False, padding=(0, between - 1, 0, 0))
    drawn.width = _width([fitted[at] for at in block], between)
    for at in block:
        side: Any = "left" if at in names else "right"
        drawn.add_column(fitted[at][0], justify=side, no_wrap=at not in names, overflow="fold")
    for number in range(len(table.rows)):
        cells = [_shaded(fitted[at][number + 1], table.shades.get((number, at)) if coloured else None) for at in block]
        drawn.add_row(*cells, style="dim" if number in table.dimmed else None, end_section=number in table.ends)
    return drawn


def _shaded(text: str, share: float | None) -> Any:
    if share is None:
        return text
    back, front = SHADES[min(int(share * len(SHADES)), len(SHADES) - 1)]
    return styled(text, f"color({front}) on color({back})")


def _width(columns: Lines, between: int) -> int:
    return sum(map(_longest, columns)) + between * (len(columns) - 1)


def _longest(texts: Sequence[str]) -> int:
    return max(cell_len(line) for text in texts for line in text.split("\n"))


def _fitted(columns: Lines, names: Sequence[int], width: int, between: int) -> Lines:
    """Breaks names, the widest first, until all columns fit the terminal, or none can be broken."""
    fitted, widths = list(columns), [_longest(column) for column in columns]
    while names and (excess := sum(widths) + between * (len(widths) - 1) - width) > 0:
        widest = max(names, key=lambda at: widths[at])
        next_widest = max((widths[at] for at in names if at != widest), default=0)
        most = min(max(widths[widest] - excess, next_widest, NARROWEST), widths[widest] - 1)
        if most < NARROWEST:
            break
        fitted[widest] = [_folded(broken(text, most), most) for text in columns[widest]]
        widths[widest] = _longest(fitted[widest])
    return fitted


def _folded(text: str, width: int) -> str:
    """Returns a text in lines that are cut where they have no place to be broken at."""
    return "\n".join(line[at : at + width] for line in text.split("\n") for at in range(0, max(len(line), 1), width))


def _narrow(column: list[str]) -> list[str]:
    """Returns a column of numbers whose head is broken into lines as narrow as they are, or `NARROWEST`."""
    head, *numbers = column
    return [broken(head, max(_longest(numbers) if numbers else 0, NARROWEST)), *numbers]


def _blocks(fitted: Lines, kept: int, width: int, between: int) -> Iterator[list[int]]:
    """Yields the columns that fit next to each other; the first ones, of names, are in each block."""
    block = list(range(kept))
    for at in range(kept, len(fitted)):
        if len(block) > kept and _width([fitted[of] for of in (*block, at)], between) > width:
            yield block
            block = list(range(kept))
        block.append(at)
    yield block
