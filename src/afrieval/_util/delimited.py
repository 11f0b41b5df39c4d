"""Parses delimited text, with cells quoted as in RFC 4180 or with raw quotation marks."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

CHANCE = 2  # delimiters in a text: one may stand where a column would begin by chance, two do not
_ENCLOSED = re.compile(r'"((?:[^"]++|"")*+)"')
_ANY_END, _FEED_END = r"\r\n|\r|\n", r"\r?\n|\r\Z"  # other separators, such as U+2028, are text


class DelimitedRow(NamedTuple):
    """A row.

    Attributes:
        line: its first line, from 1.
        cells: its cells, as many as the header has, or fewer if there is a defect.
        defect: why the row cannot be parsed; empty for most rows.
        last: its last line.
        chance: the number of delimiters of lines that would be rows themselves.
    """

    line: int
    cells: list[str]
    defect: str = ""
    last: int = 0
    chance: int = 0


@dataclass(frozen=True)
class _Sheet:
    """A text, its cells' pattern, its lines' positions, the number of its columns, and the number of its first line."""

    text: str
    delimiter: str
    cell: re.Pattern[str]
    lines: list[tuple[int, int]]
    width: int = 1
    start: int = 1

    def whole(self, line: int) -> bool:
        """Returns whether a line has as many columns as the header if quotation marks are ignored."""
        return self.text.count(self.delimiter, *self.lines[line]) == self.width - 1

    def empty(self, line: int) -> bool:
        """Returns whether a line is empty; in a table with one column, spaces are a cell."""
        start, end = self.lines[line]
        return start == end or (self.width > 1 and not self.text[start:end].strip(" "))


def parse_delimited(text: str, delimiter: str, header: Sequence[str] = ()) -> list[DelimitedRow]:
    """Returns the rows of a table, the header first; empty lines are left out.

    An enclosed cell loses its quotation marks, any other keeps them. Lines that are not a row become one with a defect.

    Args:
        text: the whole table.
        delimiter: one character.
        header: the columns' names, if the text has no header.
    """
    end = line_end(text)
    if header:
        text = f"{delimiter.join(header)}\n{text}"
    escaped = re.escape(delimiter)  # cells are enclosed or not; possessive, to avoid backtracking
    cell = re.compile(rf"{_ENCLOSED.pattern}(?={escaped}|{end}|\Z)|(?:[^{escaped}\r\n]++|(?!{end})\r)*+")
    sheet = _Sheet(text, delimiter, cell, list(_lines(text, end)), start=0 if header else 1)
    first = next((number for number in range(len(sheet.lines)) if not sheet.empty(number)), None)
    if first is None:
        return []
    head = _enclosed(sheet, first)
    sheet = replace(sheet, width=len(head.cells))
    rows = list(_rows(sheet, head.last + 1, lines_are_rows=False))
    # Rows that have all columns only by the standard show that the table follows it.
    by_standard = (r for r in rows if not (r.chance or (r.line == r.last and sheet.whole(r.line))))
    is_standard = delimiter != "\t" and any(len(row.cells) == sheet.width for row in by_standard)
    chance = 0 if is_standard else sum(row.chance for row in rows)
    if chance >= CHANCE:
        rows = list(_rows(sheet, head.last + 1, lines_are_rows=True))
    # Writers that enclose cells needlessly also enclose the header's; otherwise, such marks belong to the text.
    raw = any('"' in cell and _value(cell) == cell for row in rows for cell in row.cells)
    raw = raw and not any(_is_needless(cell, delimiter) for cell in head.cells)
    return [_record(sheet, row, raw, bool(chance)) for row in (head, *rows)]


def line_end(text: str) -> str:
    """Returns the pattern of the end of a line: where the first ends in a line feed, a lone carriage return is text."""
    first = re.search(_ANY_END, text)
    return _FEED_END if first and first[0].endswith("\n") else _ANY_END


def _lines(text: str, ends: str) -> Iterator[tuple[int, int]]:
    start = 0
    for end in re.finditer(ends, text):
        yield start, end.start()
        start = end.end()
    if start < len(text):
        yield start, len(text)


def _rows(sheet: _Sheet, line: int, lines_are_rows: bool) -> Iterator[DelimitedRow]:
    while line < len(sheet.lines):
        if sheet.empty(line):
            line += 1
            continue
        row = _row(sheet, line, lines_are_rows)
        yield row
        line = row.last + 1


def _row(sheet: _Sheet, line: int, lines_are_rows: bool) -> DelimitedRow:
    """Returns the row that begins in a line: by the standard if it has all columns, or else the line alone."""
    row = _enclosed(sheet, line)
    whole = [sheet.whole(number) for number in range(line, row.last + 1)]
    if len(row.cells) == sheet.width:
        if sheet.width == 1 or len(whole) == 1 or (sheet.delimiter != "\t" and not all(whole)):
            return row
        # The line where an enclosed cell begins or ends may contain all delimiters; two lines may not.
        chance = (sheet.width - 1) * max(sum(whole) - 1, 0)
        if not (chance and lines_are_rows):
            return row._replace(chance=chance)
    if whole[0]:
        return _alone(sheet, line)
    if any(whole):
        row = _alone(sheet, line)
    columns = "1 column" if len(row.cells) == 1 else f"{len(row.cells)} columns"
    return row._replace(defect=f"{columns}, the header has {sheet.width}")


def _enclosed(sheet: _Sheet, line: int) -> DelimitedRow:
    """Parses a row by the standard, over all lines of its enclosed cells."""
    cells: list[str] = []
    last, position = line, sheet.lines[line][0]
    while not cells or position <= sheet.lines[last][1]:
        match = sheet.cell.match(sheet.text, position)
        assert match  # the pattern also matches an empty cell
        cells.append(match[0])
        while sheet.lines[last][1] < match.end():
            last += 1
        position = match.end() + 1
    return DelimitedRow(line, cells, last=last)


def _alone(sheet: _Sheet, line: int) -> DelimitedRow:
    """Parses a line in which a delimiter always ends a cell."""
    start, end = sheet.lines[line]
    matches = map(sheet.cell.match, sheet.text[start:end].split(sheet.delimiter))
    return DelimitedRow(line, [match[0] for match in matches if match], last=line)


def _value(cell: str) -> str:
    """Returns what a cell says: an enclosed one loses its quotation marks, any other keeps them."""
    enclosed = _ENCLOSED.fullmatch(cell)
    return enclosed[1].replace('""', '"') if enclosed else cell


def _is_needless(cell: str, delimiter: str) -> bool:
    """Returns whether a cell is enclosed although nothing in it requires that."""
    value = _value(cell)
    return bool(value) and cell == f'"{value}"' and not set(value) & {delimiter, "\r", "\n"}


def _record(sheet: _Sheet, row: DelimitedRow, raw: bool, doubtful: bool) -> DelimitedRow:
    """Returns a row whose lines are counted from 0, and whose cells are as they are written, as users see it."""
    cells = [cell if raw and _is_needless(cell, sheet.delimiter) else _value(cell) for cell in row.cells]
    defect = row.defect
    if row.chance and doubtful:
        defect = f"a quotation mark that is closed in line {row.last + sheet.start}, maybe of another row"
    line = row.line + sheet.start
    return DelimitedRow(line, cells[: sheet.width], defect and f"line {line}: {defect}")
