"""Published score tables, such as AfroBench's `TASK-0shot.csv`: model, prompt, languages, average.

What cannot be read is left out and named; the rest is used.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

import numpy as np

from afrieval._util.delimited import DelimitedRow, parse_delimited
from afrieval._util.errors import UserError
from afrieval._util.files import read_text
from afrieval._util.grouping import grouped, ranges
from afrieval._util.terminal import shortened
from afrieval.languages import LANGUAGES, language_of
from afrieval.tasks.declaration.spec import TaskSpec, load_task, task_names

AFROBENCH = "AfroBench"
FIRST = ["model", "prompt"]
UNKNOWN = "unknown"  # the prompt of a row whose source does not say it
AVERAGES, AVERAGE = ("avg", "avg_score", "average"), "the average"
NOT_AVERAGED = ("eng", "fra")  # Portuguese is averaged: the printed averages come out only with it
TOLERANCE = 0.1 + 1e-9  # they are printed with one decimal, not always rounded to the nearest
HINT = "the columns must be model, prompt and one per language; one may be avg"
PERCENT = re.compile(r"[0-9]+(\.[0-9]*)?")
NAMED = re.compile(r"(.+?)[\s_-]+(\d+)[\s_-]?shots?")  # TASK-0shot and TASK - 0-shot
MOST, MANY, SHOWN = 5, 10, 40  # faults and names that a message has, and characters of a name
Fault = tuple[list[int], str]  # lines that were left out, and why


@dataclass(frozen=True)
class PublishedRow:
    """A row of a published table, or of published records; all numbers in percent, as printed.

    Attributes:
        task: from the file's name, as the suite calls it if it has it.
        prompt: its number in the paper, or its name if it has none.
        shots: from the file's name; None if it has none.
        scores: by language, as the suite calls it, or as printed. Empty cells are left out.
        average: the table's; None if it has none, or a column was left out.
        line: its line in the file; 0 of a record.
        prompt_language: `eng` or `native`; tables of papers have English prompts.
        metric: what the scores are; empty if it is the one that is usual for the task.
        n: by language, the number of documents, where it is known.
        source: its file, as a leaderboard names it.
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
    source: str = ""

    @property
    def averaged(self) -> list[str]:
        """The languages that AfroBench averages over; rows of one table may differ in them."""
        return [code for code in self.scores if code not in NOT_AVERAGED]

    @property
    def recomputed(self) -> float:
        """AfroBench's own average, which is not the suite's mean over African languages; of rows with `averaged`."""
        return float(np.mean([self.scores[code] for code in self.averaged]))

    @property
    def is_consistent(self) -> bool:
        """Whether the recomputed average is the printed one to 0.1; so it is where there is none."""
        return self.average is None or not self.averaged or abs(self.recomputed - self.average) <= TOLERANCE


class PublishedTable(NamedTuple):
    """Published scores, and a sentence on each kind of thing that was left out."""

    rows: list[PublishedRow]
    left_out: list[str]


def read_published(file: Path) -> PublishedTable:
    """Returns the rows of a published table, with the suite's names of tasks and languages where it knows them.

    Left out are rows that cannot be read, and columns without a name or with the same one. Rows whose names a
    spreadsheet counted up have the first of them.

    Raises:
        UserError: if the file does not exist, is not a published table, or has rows but none that can be read.
    """
    records = parse_delimited(read_text(file, "give a published table: CSV in UTF-8"), ",")
    cells = [record._replace(cells=[cell.strip() for cell in record.cells]) for record in records]
    filled = [record for record in cells[1:] if any(record.cells)]
    head = cells[0].cells if cells else []
    columns = _columns(file, head)
    named = NAMED.fullmatch(file.stem)
    task, shots = (named[1], int(named[2])) if named else (file.stem, None)
    rows, faults = list[PublishedRow](), list[Fault]()
    for record in filled:
        row = _row(record, head, columns, task, shots)
        if isinstance(row, str):
            faults.append(([record.line], row))
        else:
            rows.append(row)
    repeated = list(_repeated(rows))
    left = {line for lines, _ in repeated for line in lines}
    rows, faults = [row for row in rows if row.line not in left], faults + repeated
    filled_down = list(_counted_up(rows))
    first = {row.line: of[0].model for of in filled_down for row in of}
    rows = [replace(row, model=first.get(row.line, row.model)) for row in rows]
    if faults and not rows:
        raise UserError(f"{file} has no row that can be read: {_of_lines(faults[0])}", HINT)
    rows, renamed = _with_own_names(rows)
    return PublishedTable(rows, [*_left_out(head, columns, filled, faults, filled_down), *renamed])


def _columns(file: Path, cells: list[str]) -> dict[str, int]:
    """Returns the places of the languages, and of `AVERAGE` if there is one."""
    if [cell.casefold() for cell in cells[:2]] != FIRST:
        start = shortened(",".join(cells[:2]), SHOWN)
        raise UserError(f"{file}, line 1: the header begins with {start!r}, not 'model,prompt'", HINT)
    once = {name: at for at, name in enumerate(cells) if at > 1 and name and cells.count(name) == 1}
    averages = [name for name in once if name.casefold() in AVERAGES]
    languages = {name: at for name, at in once.items() if name not in averages}
    if not languages:
        raise UserError(f"{file}, line 1: the header has no language", HINT)
    return languages | ({AVERAGE: once[averages[0]]} if len(averages) == 1 else {})


def _row(
    record: DelimitedRow, head: list[str], columns: dict[str, int], task: str, shots: int | None
) -> PublishedRow | str:
    """Returns a row, or why it cannot be read."""
    cells = record.cells
    if record.defect or len(cells) != len(head):
        return record.defect.partition(": ")[2] or f"{len(cells)} cells, but the header has {len(head)}"
    if not cells[0] or not cells[1]:
        return "model or prompt is empty"
    texts = {name: cells[index] for name, index in columns.items() if cells[index]}
    numbers = {name: float(text) for name, text in texts.items() if PERCENT.fullmatch(text) and float(text) <= 100}
    if wrong := next((name for name in texts if name not in numbers), None):
        return f"{shortened(wrong, SHOWN)} is {shortened(texts[wrong], SHOWN)!r}, not a number from 0 to 100"
    average = numbers.pop(AVERAGE, None)
    whole = not any(cells[at] for at in _unread(head, columns))
    return PublishedRow(
        task, cells[0], cells[1].removeprefix("prompt_"), shots, numbers, average if whole else None, record.line
    )


def _unread(head: list[str], columns: dict[str, int]) -> list[int]:
    """Returns the places of columns that no score is taken from: they have names like others, or none."""
    return [at for at in range(2, len(head)) if at not in columns.values()]


def _repeated(rows: Sequence[PublishedRow]) -> Iterator[Fault]:
    """Yields the rows of one model and prompt that differ, and repetitions of equal ones."""
    for (model, prompt), (first, *others) in grouped(rows, lambda row: (row.model, row.prompt)).items():
        named = f"{shortened(model, SHOWN)}, prompt {shortened(prompt, SHOWN)}"
        lines = [row.line for row in others]
        if any(row.scores != first.scores for row in others):
            yield [first.line, *lines], f"different scores of {named}"
        elif others:
            yield lines, f"{named}, is already in line {first.line}"


def _counted_up(rows: Sequence[PublishedRow]) -> Iterator[list[PublishedRow]]:
    """Yields the rows of each model whose names a spreadsheet counted up: `pro-002` with prompt 1, `pro-003` with 2.

    It does so when a column is filled down from a name that ends with a number.
    """

    def origin(row: PublishedRow) -> tuple[str, int] | None:  # the name, and what its number would be for prompt 0
        ends = re.search(r"(?<!\d)\d{1,18}\Z", row.model)
        if not ends or not re.fullmatch("[0-9]{1,18}", row.prompt):
            return None
        return row.model[: ends.start()], int(ends[0]) - int(row.prompt)

    of_models = grouped(rows, lambda row: row.model)
    alone = groupby((row for row in rows if len(of_models[row.model]) == 1), origin)
    yield from (of for of in (list(of_origin) for name, of_origin in alone if name) if len(of) > 1)


def _left_out(
    head: list[str],
    columns: dict[str, int],
    records: Sequence[DelimitedRow],
    faults: Sequence[Fault],
    filled_down: Sequence[Sequence[PublishedRow]],
) -> Iterator[str]:
    """Yields sentences on the columns with scores and the rows that are left out, and names that are read as others."""
    whole = [record.cells for record in records if len(record.cells) == len(head)]
    if used := [at for at in _unread(head, columns) if any(cells[at] for cells in whole)]:
        named = shown(head[at] or f"column {at + 1}, without a name" for at in used)
        yield f"columns that have no name, or one that another has: {named}; averages of rows with them are not checked"
    if faults:
        lost, more = sum(len(lines) for lines, _ in faults), len(faults) - MOST
        named = "; ".join(map(_of_lines, sorted(faults)[:MOST])) + (f"; and {more} more" if more > 0 else "")
        yield f"{lost} of {len(records)} rows that cannot be read: {named}"
    for rows in filled_down:
        first, last = (shortened(row.model, SHOWN) for row in (rows[0], rows[-1]))
        yield (
            f"names of lines {ranges([row.line for row in rows])} that count up with the prompts to {last}, as if a "
            f"spreadsheet had filled the column down: all are read as {first}; if they are other models, leave them out"
        )


def _of_lines(fault: Fault) -> str:
    lines, why = fault
    return f"line{'s' * (len(lines) > 1)} {ranges(lines)}: {why}"


def shown(names: Iterable[str]) -> str:
    """Returns names for a message, each once; long ones are shortened, and the last of many only counted."""
    distinct = list(dict.fromkeys(names))
    more = f" and {len(distinct) - MANY} more" if len(distinct) > MANY else ""
    return ", ".join(shortened(name, SHOWN) for name in distinct[:MANY]) + more


def _with_own_names(rows: Sequence[PublishedRow]) -> tuple[list[PublishedRow], list[str]]:
    """Returns rows with the suite's names of their task and languages, and sentences on what that leaves out.

    Of two columns of a language, the one whose printed code is the suite's own is used, else the first.
    """
    spec = _specs_of_tables().get(rows[0].task) if rows else None
    printed = list(dict.fromkeys(code for row in rows for code in row.scores))
    theirs = {code: ours for ours, code in spec.paper.codes.items()} if spec and spec.paper else {}
    codes = {code: theirs.get(code) or language_of(code) or code for code in printed}
    first: dict[str, str] = {}
    for code in sorted(printed, key=lambda code: codes[code] != code):
        first.setdefault(codes[code], code)
    twice = [code for code in printed if first[codes[code]] != code]
    unknown = [codes[code] for code in printed if code not in twice and codes[code] not in LANGUAGES]
    left_out = [
        f"second columns of languages: {shown(twice)}; averages of rows with them are not checked" if twice else "",
        f"from means over African languages, since the suite does not have them: {shown(unknown)}" if unknown else "",
    ]
    renamed = []
    for row in rows:
        scores = {codes[code]: score for code, score in row.scores.items() if code not in twice}
        average = row.average if len(scores) == len(row.scores) else None
        renamed.append(replace(row, task=spec.name if spec else row.task, scores=scores, average=average))
    return renamed, [*filter(None, left_out)]


@cache
def _specs_of_tables() -> dict[str, TaskSpec]:
    """Returns, for each table that a task's paper published, the task."""
    specs = map(load_task, task_names())
    return {spec.paper.table or spec.name: spec for spec in specs if spec.paper}
