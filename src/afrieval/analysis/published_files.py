"""Parses published score tables, such as AfroBench's `TASK-0shot.csv`: model, prompt, languages, average.

What cannot be read is left out and named; the rest is used.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

from afrieval._util.delimited import DelimitedRow, parse_delimited
from afrieval._util.errors import UserError
from afrieval._util.files import read_text
from afrieval._util.grouping import grouped, ranges
from afrieval._util.terminal import shortened

FIRST = ["model", "prompt"]
UNKNOWN = "unknown"  # the prompt of a row whose source does not say it
AVERAGES = ("avg", "avg_score", "average")
HINT = "the columns must be model, prompt and one per language; one may be avg"
PERCENT = re.compile(r"[0-9]+(\.[0-9]*)?")
NAMED = re.compile(r"(.+?)[\s_-]+(\d+)[\s_-]?shots?")  # TASK-0shot and TASK - 0-shot
MOST, MANY, SHOWN = 5, 10, 40  # faults and names that a message has, and characters of a name


@dataclass(frozen=True)
class PublishedRow:
    """A row of a published table, or of published records; all numbers in percent, as printed.

    Attributes:
        task: from the file's name.
        prompt: its number in the paper, or its name if it has none.
        shots: from the file's name; None if it has none.
        scores: by language, as printed or as the suite calls it. Empty cells are left out.
        average: the table's; None if it has none, or a column was left out.
        line: its line in the file; 0 of a record.
        prompt_language: `eng` or `native`; tables of papers have English prompts.
        metric: what the scores are; empty if it is the one that is usual for the task.
        n: by language, the number of documents, where it is known.
    """

    task: str
    model: str
    prompt: str
    shots: int | None
    scores: dict[str, float]
    average: float | None
    line: int
    prompt_language: str = "eng"
    metric: str = ""
    n: dict[str, int] = field(default_factory=dict)


class PublishedTable(NamedTuple):
    """Published scores, and a sentence on each kind of thing that was left out."""

    rows: list[PublishedRow]
    left_out: list[str]


class _Fault(NamedTuple):
    """Why some lines were left out."""

    lines: list[int]
    why: str


class _Header(NamedTuple):
    """The names of columns.

    Attributes:
        cells: all.
        languages: name to place.
        average: place of the average; None without one.
        unread: places of columns that no score is taken from, although they have names like others, or none.
    """

    cells: list[str]
    languages: dict[str, int]
    average: int | None
    unread: list[int]


def read_published(file: Path) -> PublishedTable:
    """Returns the rows of a published table.

    Left out are rows that cannot be read, and columns without a name or with the same one. Rows whose names a
    spreadsheet counted up have the first of them.

    Raises:
        UserError: if the file does not exist, is not a published table, or has rows but none that can be read.
    """
    records = parse_delimited(read_text(file, "give a published table: CSV in UTF-8"), ",")
    cells = [record._replace(cells=[cell.strip() for cell in record.cells]) for record in records]
    filled = [record for record in cells[1:] if any(record.cells)]
    header = _header(file, cells[0].cells if cells else [])
    named = NAMED.fullmatch(file.stem)
    task, shots = (named[1], int(named[2])) if named else (file.stem, None)
    read = [_row(record, header, task, shots) for record in filled]
    rows, faults = [row for row in read if isinstance(row, PublishedRow)], [of for of in read if isinstance(of, _Fault)]
    repeated = list(_repeated(rows))
    left = {line for of in repeated for line in of.lines}
    rows, faults = [row for row in rows if row.line not in left], faults + repeated
    filled_down = list(_counted_up(rows))
    first = {row.line: of[0].model for of in filled_down for row in of}
    rows = [replace(row, model=first.get(row.line, row.model)) for row in rows]
    if faults and not rows:
        raise UserError(f"{file} has no row that can be read: {_of_lines(faults[0])}", HINT)
    return PublishedTable(rows, [*_left_out(header, filled, faults), *map(_as_first, filled_down)])


def _header(file: Path, cells: list[str]) -> _Header:
    """Returns what the columns are."""
    if [cell.casefold() for cell in cells[:2]] != FIRST:
        start = shortened(",".join(cells[:2]), SHOWN)
        raise UserError(f"{file}, line 1: the header begins with {start!r}, not 'model,prompt'", HINT)
    once = {name: at for at, name in enumerate(cells) if at > 1 and name and cells.count(name) == 1}
    averages = [at for name, at in once.items() if name.casefold() in AVERAGES]
    languages = {name: at for name, at in once.items() if at not in averages}
    if not languages:
        raise UserError(f"{file}, line 1: the header has no language", HINT)
    average = averages[0] if len(averages) == 1 else None
    used = {*languages.values(), average}
    return _Header(cells, languages, average, [at for at in range(2, len(cells)) if at not in used])


def _row(record: DelimitedRow, header: _Header, task: str, shots: int | None) -> PublishedRow | _Fault:
    """Returns a row, or why it cannot be read."""
    cells, width = record.cells, len(header.cells)
    if record.defect or len(cells) != width:
        why = record.defect.partition(": ")[2] or f"{len(cells)} cells, but the header has {width}"
        return _Fault([record.line], why)
    if not cells[0] or not cells[1]:
        return _Fault([record.line], "model or prompt is empty")
    columns = {**header.languages, **({"the average": header.average} if header.average is not None else {})}
    texts = {name: cells[index] for name, index in columns.items() if cells[index]}
    numbers = {name: float(text) for name, text in texts.items() if PERCENT.fullmatch(text) and float(text) <= 100}
    if wrong := next((name for name in texts if name not in numbers), None):
        cell = shortened(cells[columns[wrong]], SHOWN)
        return _Fault([record.line], f"{shortened(wrong, SHOWN)} is {cell!r}, not a number from 0 to 100")
    average = numbers.pop("the average", None)
    whole = not any(cells[at] for at in header.unread)
    prompt = cells[1].removeprefix("prompt_")
    return PublishedRow(task, cells[0], prompt, shots, numbers, average if whole else None, record.line)


def _repeated(rows: Sequence[PublishedRow]) -> Iterator[_Fault]:
    """Yields the rows of one model and prompt that differ, and repetitions of equal ones."""
    for (model, prompt), (first, *others) in grouped(rows, lambda row: (row.model, row.prompt)).items():
        named = f"{shortened(model, SHOWN)}, prompt {shortened(prompt, SHOWN)}"
        lines = [row.line for row in others]
        if any(row.scores != first.scores for row in others):
            yield _Fault([first.line, *lines], f"different scores of {named}")
        elif others:
            yield _Fault(lines, f"{named}, is already in line {first.line}")


def _counted_up(rows: Sequence[PublishedRow]) -> Iterator[list[PublishedRow]]:
    """Yields the rows of each model whose names a spreadsheet counted up: `pro-002` with prompt 1, `pro-003` with 2.

    It does so when a column is filled down from a name that ends with a number.
    """
    of_models = grouped(rows, lambda row: row.model)
    alone = groupby((row for row in rows if len(of_models[row.model]) == 1), _origin)
    yield from (of for of in (list(of_origin) for origin, of_origin in alone if origin) if len(of) > 1)


def _as_first(rows: Sequence[PublishedRow]) -> str:
    first, last = (shortened(row.model, SHOWN) for row in (rows[0], rows[-1]))
    return (
        f"names of lines {ranges([row.line for row in rows])} that count up with the prompts to {last}, as if a "
        f"spreadsheet had filled the column down: all are read as {first}; if they are other models, leave them out"
    )


def _origin(row: PublishedRow) -> tuple[str, int] | None:
    """Returns a name without the number at its end, and what the number would be for prompt 0; None without either."""
    ends = re.search(r"(?<!\d)\d{1,18}\Z", row.model)
    if not ends or not re.fullmatch("[0-9]{1,18}", row.prompt):
        return None
    return row.model[: ends.start()], int(ends[0]) - int(row.prompt)


def _left_out(header: _Header, records: Sequence[DelimitedRow], faults: Sequence[_Fault]) -> Iterator[str]:
    """Yields a sentence on the columns with scores that are left out, and one on the rows."""
    width = len(header.cells)
    used = [at for at in header.unread if any(len(of.cells) == width and of.cells[at] for of in records)]
    if used:
        named = shown(header.cells[at] or f"column {at + 1}, without a name" for at in used)
        yield f"columns that have no name, or one that another has: {named}; averages of rows with them are not checked"
    if faults:
        lost, more = sum(len(of.lines) for of in faults), len(faults) - MOST
        named = "; ".join(map(_of_lines, sorted(faults)[:MOST])) + (f"; and {more} more" if more > 0 else "")
        yield f"{lost} of {len(records)} rows that cannot be read: {named}"


def _of_lines(fault: _Fault) -> str:
    return f"line{'s' * (len(fault.lines) > 1)} {ranges(fault.lines)}: {fault.why}"


def shown(names: Iterable[str]) -> str:
    """Returns names for a message, each once; long ones are shortened, and the last of many only counted."""
    distinct = list(dict.fromkeys(names))
    more = f" and {len(distinct) - MANY} more" if len(distinct) > MANY else ""
    return ", ".join(shortened(name, SHOWN) for name in distinct[:MANY]) + more
