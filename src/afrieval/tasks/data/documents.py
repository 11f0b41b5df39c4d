"""Converts the rows of a data file to documents, whatever their coding."""

import ast
import hashlib
import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from decimal import Decimal
from string import ascii_uppercase
from types import NoneType
from typing import Any

from afrieval._util.errors import UserError
from afrieval._util.tables import DEFECT
from afrieval.languages import ENGLISH
from afrieval.scoring.extract.number import parse_number
from afrieval.scoring.tagging import NONE
from afrieval.scoring.texts import without_marks
from afrieval.tasks.declaration.answers import (
    RATINGS,
    TOKENS,
    Tagged,
    Weighted,
    label_text,
    normalise,
    parse_list,
    ratings,
    with_groups,
)
from afrieval.tasks.declaration.schema import AnswerSpec, column_names
from afrieval.tasks.declaration.spec import TaskSpec

LETTERS = ascii_uppercase
CELL_TYPES = (str, int, float, Decimal, NoneType)  # what a cell with a text or a number holds
UNMARKED = "no marks to restore"  # often because its author wrote none: copying would be right
UNANSWERED = "its list of right answers is empty"  # as where nobody who was asked had one
LONGEST = 18  # digits of a number that can be a place among choices, and of any that is read in no time
BLANK = re.compile("_+")
HEADING = re.compile(r"[^:፡፦፥\d\n]{1,60}(?::|[፡፦፥](?=[\s*_]))[*_]*\s*")  # Ge'ez colons; one of them also divides words


@dataclass(frozen=True)
class Document:
    """One row, normalised.

    Attributes:
        id: row number in its split, from 0.
        fields: name to text, for prompts.
        choices: option texts or label names; empty if there are none.
        gold: index of the right choice, or the right answer in the form of the task's answer type;
            None if the row has none and cannot be scored.
        defect: the row's defect; usually empty.
        worked: a worked solution, if a few-shot row has one.
        prompt: the complete prompt, if the row has one.
        verdict: whether the answer that the data's authors recorded was right; None if unknown.
        key: identifies the question in every language; empty if it is missing or not unique.
        roles: what each choice is, if the choices are texts whose likelihood is measured.
        rest: the text after the blank that the choices fill; empty if there is none.
    """

    id: int
    fields: dict[str, str]
    choices: tuple[str, ...]
    gold: Any | None
    defect: str = ""
    worked: str = ""
    prompt: str = ""
    verdict: bool | None = None
    key: str = ""
    roles: tuple[str, ...] = ()
    rest: str = ""

    @property
    def gold_cell(self) -> int | str | None:
        """The right answer as the cell of a table: a list or map as JSON."""
        return json.dumps(self.gold) if isinstance(self.gold, list | dict) else self.gold


def documents(spec: TaskSpec, rows: list[dict[str, Any]], where: str, split: str) -> list[Document]:
    """Returns the rows as documents, in order.

    Raises:
        UserError: if a column is missing, or choices or answers cannot be parsed.
    """
    columns = [spec.choices] if isinstance(spec.choices, str) else spec.choices or []
    further = list(column_names(spec.choice_labels))
    further += [TOKENS] if spec.scoring.answer.is_tagged else []
    check_columns([*spec.field_columns.values(), *columns, *further, *spec.texts.values()], rows, spec.name, where)
    rows = _with_group_as_answer(spec, rows, where)
    check_answer_columns(spec, rows, where)
    if spec.scoring.answer.is_tagged:
        rows = [{**row, TOKENS: parse_list(row[TOKENS])} for row in rows]
    if spec.scoring.answer.is_rated:
        found_of = ratings(spec.labels, spec.answer_columns, rows)
        rows = [{**row, RATINGS: of} for row, of in zip(rows, found_of, strict=True)]
    texts = columns if isinstance(spec.choices, list) else []
    texts = [*texts, spec.worked] if spec.worked else texts
    # Columns that mark each choice as wrong or right have no texts.
    of_marks = [c for c in spec.answer_columns if spec.choices and isinstance(rows[0].get(c), list)]
    no_texts = spec.scoring.answer.is_list or spec.scoring.answer.columns
    answers = [] if no_texts else [c for c in spec.answer_columns if c not in of_marks]
    _check_texts([*spec.field_columns.values()], rows, where, tokens=True)
    _check_texts([*texts, *answers], rows, where)
    parsed = keyed(spec, rows, [_document(spec, number, row, where) for number, row in enumerate(rows)])
    _check_golds(spec, rows, parsed, where)
    return _examples(spec, rows, parsed) if split == spec.data.fewshot else parsed


def _with_group_as_answer(spec: TaskSpec, rows: list[dict[str, Any]], where: str) -> list[dict[str, Any]]:
    """Returns rows with a column for the answer if it is the group of a field's value, as the kind that is wanted."""
    name = next((column for column in spec.answer_columns if column in spec.grouped_fields), None)
    if name is None:
        return rows

    def answer(number: int, row: dict[str, Any]) -> str | None:
        texts = {field: _text(spec, row[column]) for field, column in spec.field_columns.items()}
        return None if DEFECT in row else with_groups(spec.fields, texts, f"{where}, row {number}")[name]

    return [{**row, name: answer(number, row)} for number, row in enumerate(rows)]


def keyed(spec: TaskSpec, rows: Sequence[Mapping[str, Any]], documents: list[Document]) -> list[Document]:
    """Returns the documents with keys, if the task declares them.

    A row with a missing or repeated key gets none; it is scored like any other.
    """
    if not spec.key:
        return documents
    values = [[normalise(row.get(column)) for column in spec.key] for row in rows]
    keys = [json.dumps(row, ensure_ascii=False) if all(row) else "" for row in values]
    times = Counter(keys)
    return [replace(d, key=key if times[key] == 1 else "") for d, key in zip(documents, keys, strict=True)]


def _check_golds(spec: TaskSpec, rows: list[dict[str, Any]], documents: list[Document], where: str) -> None:
    """Rejects a file whose answers are coded differently; a single row without one is only marked."""
    if all(d.gold is None for d in documents):
        if spec.texts:
            needed = ", ".join(map(repr, spec.texts.values()))
            raise UserError(f"{where}: no row has texts in all of {needed}", "check the texts of the task file")
        shown_cells = sorted({repr(_answer(spec, row)) for row in rows})
        shown = f"{', '.join(shown_cells[:4])}{' ...' if shown_cells[4:] else ''}"
        named = " or ".join(map(repr, spec.scoring.answer.columns or spec.answer_columns))
        last = spec.first_answer + len(spec.labels) - 1
        allowed = f"; the labels are {', '.join(spec.labels)}, or {spec.first_answer} to {last}" if spec.labels else ""
        problem = f"{where}: no row has a gold answer; column {named} has {shown}{allowed}"
        raise UserError(problem, "write in labels what the data has" if spec.labels else "check the task file")
    if not spec.scoring.answer.is_choice or spec.choice_labels:
        return
    sound = [(row, d) for row, d in zip(rows, documents, strict=True) if DEFECT not in row]
    first, last = spec.first_answer, spec.first_answer + min(len(d.choices) for _, d in sound)
    cells = [_answer(spec, row) for row, _ in sound]
    numbers = {_number(cell) for cell in cells if label_text(cell) not in spec.labels}
    if None not in numbers and last in numbers and first not in numbers:
        raise UserError(
            f"{where}: column {spec.answer_columns[0]!r} counts from {first + 1}, not {first}",
            f"set first_answer to {first + 1} in tasks/{spec.name}/task.yaml",
        )


def check_columns(columns: Sequence[str], rows: list[dict[str, Any]], task: str, where: str) -> None:
    """Rejects a table that is empty or lacks a column."""
    if not rows:
        raise UserError(f"{where} has no rows", "check the file, or fetch it again")
    if missing := sorted(set(columns) - set(rows[0]).intersection(*rows[1:])):
        raise UserError(
            f"{where} has no column {missing[0]!r}",
            f"it has {', '.join(map(str, rows[0]))}; the task.yaml of {task} maps names to columns",
        )


def _check_texts(columns: Sequence[str], rows: list[dict[str, Any]], where: str, tokens: bool = False) -> None:
    """Rejects cells that are neither text nor a number, nor a list of tokens where that is allowed."""
    for number, row in enumerate(rows):
        for column in columns:
            cell = row.get(column)
            if not (isinstance(cell, CELL_TYPES) or (tokens and _is_tokens(cell))):
                raise UserError(
                    f"{where}, row {number}: column {column!r} must be text, not {type(cell).__name__}",
                    "check the task file's fields, or fetch the data again",
                )


def check_answer_columns(spec: TaskSpec, rows: list[dict[str, Any]], where: str) -> None:
    """Rejects rows without the columns of the right answers."""
    if spec.scoring.answer.columns:
        check_columns(spec.scoring.answer.columns, rows, spec.name, where)
        return
    shared = set(rows[0]).intersection(*rows[1:])
    if not shared & set(spec.answer_columns):
        check_columns(spec.answer_columns[-1:], rows, spec.name, where)


def answer_cells(spec: TaskSpec, row: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the columns that make up an answer, and the evaluated language unless it is English."""
    language = {"language": spec.evaluated} if spec.evaluated not in ("", ENGLISH) else {}
    return {column: row[column] for column in spec.scoring.answer.columns} | language


def _answer(spec: TaskSpec, row: dict[str, Any]) -> Any:
    """Returns the first answer column's value that is not empty, or all columns of the answer."""
    if spec.scoring.answer.columns:
        return answer_cells(spec, row)
    if spec.scoring.answer.is_rated:
        return row[RATINGS]
    cells = [row[column] for column in spec.answer_columns if column in row]
    cell = next((cell for cell in cells if cell != [] and normalise(cell)), cells[0])
    if isinstance(spec.answer, AnswerSpec) and spec.answer.weight:
        return Weighted(cell, spec.answer.texts, spec.answer.weight)
    return Tagged(row.get(TOKENS), cell, spec.tags) if spec.scoring.answer.is_named else cell


def _examples(spec: TaskSpec, rows: list[dict[str, Any]], documents: list[Document]) -> list[Document]:
    """Returns few-shot documents with worked solutions and without headings."""
    worked = [_text(spec, row.get(spec.worked)) if spec.worked else "" for row in rows]
    worked = ["" if parse_number(text) is not None else text for text in worked]  # a copy has the bare answer there
    if isinstance(spec.data.headed, str):
        worked = [text.removeprefix(spec.data.headed).removeprefix(" ") for text in worked]
    elif spec.data.headed:
        worked = _unheaded(worked)
        columns = [_unheaded([d.fields[name] for d in documents]) for name in spec.fields]
        documents = [
            replace(d, fields=dict(zip(spec.fields, row, strict=True)))
            for d, *row in zip(documents, *columns, strict=True)
        ]
    return [replace(d, worked=text) for d, text in zip(documents, worked, strict=True)]


def _unheaded(texts: list[str]) -> list[str]:
    """Returns texts without the heading before the first colon, if most texts have one."""
    headings = [HEADING.match(text) for text in texts]
    if 2 * sum(map(bool, headings)) <= sum(map(bool, texts)):
        return texts  # a colon or two in the texts themselves
    return [text[h.end() :] if h else text for text, h in zip(texts, headings, strict=True)]


def _document(spec: TaskSpec, number: int, row: dict[str, Any], where: str) -> Document:
    texts = {name: _text(spec, row[column]) for name, column in spec.field_columns.items()}
    texts |= {name: without_marks(texts[name]) for name in spec.without_marks}
    if DEFECT in row:  # its cells may have shifted to other columns
        return Document(number, dict.fromkeys(spec.fields, "") | texts, tuple(spec.labels), None, row[DEFECT])
    texts = with_groups(spec.fields, texts, f"{where}, row {number}")
    answer, choices = spec.scoring.answer, tuple(spec.labels)
    gold: Any
    if answer.is_measured:
        roles, measured = tuple(zip(*_roles_and_texts(spec, row, f"{where}, row {number}"), strict=True)) or ((), ())
        defect = _defect(texts, (), None) if measured else answer.missing
        return Document(number, texts, measured, 0 if measured else None, defect, roles=roles)
    if answer.is_choice:
        choices = choices or _choices(spec, row, f"{where}, row {number}")
        if isinstance(spec.choices, list) and spec.answer in spec.choices:
            gold = spec.choices.index(spec.answer)
        else:
            gold = _gold_choice(spec, row, len(choices))
        choices, gold = _shuffled(spec, number, choices, gold) if spec.shuffle else (choices, gold)
    else:
        gold = answer.parse(_answer(spec, row))
        gold = None if spec.judge and not spec.judge.is_scale and gold not in spec.judge.levels else gold
        choices = tuple(c for c in choices if c in row[RATINGS] or c == NONE) if answer.is_rated else choices
    if spec.kind == "restoration" and gold in texts.values():
        return Document(number, texts, choices, None, UNMARKED)
    defect = _missing(spec, row) if gold is None else _defect(texts, choices, gold)
    rest = BLANK.split(texts[spec.blank])[1:] if spec.blank else [""]
    if spec.blank and (len(rest) != 1 or not rest[0].strip()):
        return Document(number, texts, choices, None, f"no single blank with a text after it in {spec.blank}")
    gold = None if "" in map(label_text, choices) else gold
    return Document(number, texts, choices, gold, defect, rest=rest[0].strip())


def _missing(spec: TaskSpec, row: dict[str, Any]) -> str:
    """Returns the defect of a row without a right answer."""
    cells = [row[column] for column in spec.answer_columns if column in row]
    return UNANSWERED if cells and all(parse_list(cell) == [] for cell in cells) else spec.scoring.answer.missing


def _roles_and_texts(spec: TaskSpec, row: dict[str, Any], where: str) -> list[tuple[str, str]]:
    """Returns role and text of all texts of a row, in the order of the task file; empty if one is missing or empty."""
    pairs: list[tuple[str, str]] = []
    for role, column in spec.texts.items():
        cells = [] if row[column] is None or row[column] != row[column] else parse_list(row[column])
        if cells is None or not all(isinstance(text, str | int | float) or text is None for text in cells):
            problem = f"{where}: column {column!r} must be a text or a list of texts, not {row[column]!r:.60}"
            raise UserError(problem, "correct the row")
        texts = [_text(spec, text) for text in cells]
        if not texts or "" in texts:
            return []
        pairs += [(role, text) for text in texts]
    return pairs


def _choices(spec: TaskSpec, row: dict[str, Any], where: str) -> tuple[str, ...]:
    """Parses option texts from separate columns, a list, a map of names to texts, or the text of one of them."""
    if not isinstance(spec.choices, str):
        cells = [row[column] for column in spec.choices or ()]
        while spec.fewer_choices and len(cells) > 2 and cells[-1] is None:
            cells.pop()
        return tuple(_text(spec, cell) for cell in cells)
    value = row[spec.choices]
    if (named := _named(value)) is not None:
        value = [text for text in named.values() if _is_choice(text)]
        if len(value) < 2:
            return ()
    if isinstance(value, str):
        try:
            value = ast.literal_eval(value)
        except (SyntaxError, ValueError, TypeError, MemoryError, RecursionError):
            raise UserError(f"{where}: choices must be a list, not {value[:60]!r}", "correct the row") from None
    shown = repr(row[spec.choices])[:60]
    if not isinstance(value, list | tuple) or not 2 <= len(value) <= len(LETTERS):
        raise UserError(f"{where}: choices must be a list of 2 to {len(LETTERS)} texts, not {shown}", "correct the row")
    if not all(isinstance(text, CELL_TYPES) for text in value):
        raise UserError(f"{where}: choices must all be texts, not {shown}", "correct the row")
    return tuple(_text(spec, v) for v in value)


def _named(cell: Any) -> dict[str, Any] | None:
    """Returns a map of names to texts, also of its text as JSON or Python; None if it is something else."""
    if isinstance(cell, str) and cell.lstrip().startswith("{"):
        try:
            cell = json.loads(cell)
        except ValueError:
            with suppress(SyntaxError, ValueError, TypeError, MemoryError, RecursionError):
                cell = ast.literal_eval(cell.strip())
    return {normalise(name): text for name, text in cell.items()} if isinstance(cell, dict) else None


def _is_choice(text: Any) -> bool:
    return normalise(text).upper() not in ("", "N/A")


def _gold_choice(spec: TaskSpec, row: dict[str, Any], n: int) -> int | None:
    """Returns the index of a row's right choice; a number in the data also counts the texts that are not choices."""
    named = _named(row[spec.choices]) if isinstance(spec.choices, str) else None
    names = _names(spec, row, n) if named is None else [*named]
    gold = _gold(_answer(spec, row), names, spec.first_answer)
    if named is None or gold is None:
        return gold
    choice_names = [name for name, text in named.items() if _is_choice(text)] if n else []
    return choice_names.index(names[gold]) if names[gold] in choice_names else None


def _is_tokens(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(token, str) for token in value)


def _text(spec: TaskSpec, value: Any) -> str:
    """Returns a cell's text, as it is or normalised; without any text it is empty. Tokens are joined by blanks."""
    value = " ".join(value) if _is_tokens(value) else value
    return str(value) if (spec.verbatim or spec.data.verbatim) and normalise(value) else normalise(value)


def _names(spec: TaskSpec, row: dict[str, Any], n: int) -> list[str]:
    """Returns what the answer of a row may name: the task's labels, the labels of its choices, or letters."""
    columns = list(column_names(spec.choice_labels))
    named = parse_list(row[columns[0]]) if len(columns) == 1 else [row[column] for column in columns]
    labels = [normalise(label) for label in named] if isinstance(named, list) and len(named) == n else []
    return spec.labels or labels or list(LETTERS[:n])


def _shuffled(
    spec: TaskSpec, number: int, choices: tuple[str, ...], gold: int | None
) -> tuple[tuple[str, ...], int | None]:
    """Puts choices in an order that depends on the row's number alone: the same in all languages."""
    keys = [hashlib.sha256(f"{spec.fewshot_source}:{number}:{at}".encode()).digest() for at in range(len(choices))]
    order = sorted(range(len(choices)), key=keys.__getitem__)
    return tuple(choices[at] for at in order), None if gold is None else order.index(gold)


def _gold(value: Any, names: list[str], first: int) -> int | None:
    """Parses the index of the gold choice from its name, its number counted from `first`, or a 0 or 1 per choice."""
    if isinstance(value, list):
        marked = [at for at, mark in enumerate(value) if mark]
        return marked[0] if len(value) == len(names) and len(marked) == 1 else None
    text, names = label_text(value), [*map(label_text, names)]
    letter = text.upper() if names == list(LETTERS[: len(names)]) else text
    if matches := [name for name in (text, text.removesuffix(".0"), letter) if name in names]:
        return names.index(matches[0])
    number = None if any(map(str.isdecimal, names)) else _number(text)  # a number that is not among them is no place
    return number - first if number is not None and 0 <= number - first < len(names) else None


def _number(value: Any) -> int | None:
    """Parses a whole number in digits of any script, also one that a table reader converted to 1.0."""
    text = normalise(value).removesuffix(".0")
    return int(text) if text.isdecimal() and len(text) <= LONGEST else None


def _defect(texts: dict[str, str], choices: tuple[str, ...], gold: Any) -> str:
    """Returns the defect of a row that has a gold answer; empty if there is none."""
    shown = [*map(label_text, choices)]
    if "" in shown:
        return "an empty choice"
    if choices and isinstance(gold, int) and shown.count(shown[gold]) > 1:
        return "another choice has the gold answer's text"
    empty = [name for name, text in texts.items() if not text]
    return f"empty {', '.join(empty)}" if empty else ""
