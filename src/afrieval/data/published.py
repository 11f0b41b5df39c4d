"""Parses published score tables, such as AfroBench's `TASK-0shot.csv`: model, prompt, languages, average."""

import math
import re
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path

from afrieval.errors import UserError
from afrieval.files.content import read_text
from afrieval.files.delimited import parse_delimited

FIRST = ["model", "prompt"]
AVERAGES = ("avg", "avg_score", "average")
HINT = "the columns must be model, prompt and one per language; the last may be avg"


@dataclass(frozen=True)
class PublishedRow:
    """A row of a published table, or of published records; all numbers in percent, as printed.

    Attributes:
        task: from the file's name.
        prompt: its number in the paper, or its name if it has none.
        shots: from the file's name; None if it has none.
        scores: by language, ISO 639-3; other codes as printed. Empty cells are left out.
        average: the table's; None if it has none.
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


def read_published(file: Path) -> list[PublishedRow]:
    """Returns the rows of a published table.

    Raises:
        UserError: if the file does not exist or is not a published table; the line is named.
    """
    lines = _lines(file)
    header = _header(file, lines[0][1] if lines else [])
    named = re.fullmatch(r"(.+)-(\d+)-?shots?", file.stem)
    task, shots = (named[1], int(named[2])) if named else (file.stem, None)
    rows = [_row(file, number, header, cells, task, shots) for number, cells in lines[1:] if any(cells)]
    seen: dict[tuple[str, str], int] = {}
    for row in rows:
        before = seen.setdefault((row.model, row.prompt), row.line)
        if before != row.line:
            raise UserError(
                f"{file}, line {row.line}: {row.model}, prompt {row.prompt}, is already in line {before}",
                "delete one of the two",
            )
    _check_counted_up(file, rows)
    return rows


def _check_counted_up(file: Path, rows: list[PublishedRow]) -> None:
    """Refuses names that a spreadsheet counted up: `pro-002` with prompt 1, `pro-003` with prompt 2, and so on.

    It does so when a column is filled down from a name that ends with a number. The rows are of one model.
    """
    names = [row.model for row in rows]
    alone = groupby((row for row in rows if names.count(row.model) == 1), _origin)
    found = [of_name for of_name in (list(of) for origin, of in alone if origin) if len(of_name) > 1]
    if found:
        which = ", ".join(f"{of[0].model} to {of[-1].model} in lines {of[0].line} to {of[-1].line}" for of in found)
        raise UserError(
            f"{file}: models count up with their prompts, as if a spreadsheet had filled the column down: {which}",
            f"if these are one model, write its name in each line, such as {found[0][0].model}",
        )


def _origin(row: PublishedRow) -> tuple[str, int] | None:
    """Returns a name without the number at its end, and what the number would be for prompt 0; None without either."""
    ends = re.fullmatch(r"(.*?)(\d+)", row.model)
    return (ends[1], int(ends[2]) - int(row.prompt)) if ends and row.prompt.isdecimal() else None


def _lines(file: Path) -> list[tuple[int, list[str]]]:
    """Returns the cells of each line with its number; without a byte order mark."""
    records = parse_delimited(read_text(file, "give a published table: CSV in UTF-8"), ",")
    if faults := [record.defect for record in records if record.defect]:
        raise UserError(f"{file}, {faults[0]}", HINT)
    return [(record.line, [cell.strip() for cell in record.cells]) for record in records]


def _header(file: Path, header: list[str]) -> list[str]:
    problem = ""
    if header[:2] != FIRST:
        problem = f"the header begins with {','.join(header[:2])!r}, not 'model,prompt'"
    elif not [name for name in header[2:] if name not in AVERAGES]:
        problem = "the header has no language"
    elif "" in header:
        problem = f"column {header.index('') + 1} of the header has no name"
    elif twice := [name for name in header if header.count(name) > 1]:
        problem = f"the header has {twice[0]} twice"
    elif early := [name for name in header[:-1] if name in AVERAGES]:
        problem = f"the average {early[0]} is not the last column"
    if problem:
        raise UserError(f"{file}, line 1: {problem}", HINT)
    return header


def _row(file: Path, line: int, header: list[str], cells: list[str], task: str, shots: int | None) -> PublishedRow:
    if len(cells) != len(header):
        raise UserError(f"{file}, line {line}: {len(cells)} cells, but the header has {len(header)}", HINT)
    model, prompt = cells[:2]
    if not model or not prompt:
        raise UserError(f"{file}, line {line}: model or prompt is empty", HINT)
    numbers = {name: _percent(file, line, name, cell) for name, cell in zip(header[2:], cells[2:], strict=True) if cell}
    average = numbers.pop(header[-1], None) if header[-1] in AVERAGES else None
    return PublishedRow(task, model, prompt.removeprefix("prompt_"), shots, numbers, average, line)


def _percent(file: Path, line: int, name: str, cell: str) -> float:
    value = float(cell) if re.fullmatch(r"[0-9]+(\.[0-9]*)?", cell) else math.nan
    if not 0 <= value <= 100:
        raise UserError(
            f"{file}, line {line}: {name} is {cell!r}, but must be a number from 0 to 100", "write scores in percent"
        )
    return value
