"""Converts the rows of a data file to documents, whatever their coding."""

import hashlib
import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from afrieval._util.errors import UserError
from afrieval._util.tables import DEFECT
from afrieval.scoring.extract.number import parse_number
from afrieval.scoring.texts import without_marks
from afrieval.tasks.answers.cell_values import digits, label_text, normalise
from afrieval.tasks.answers.choices import CELL_TYPES
from afrieval.tasks.data.document import Document
from afrieval.tasks.declaration.schema import GroupedField, column_names
from afrieval.tasks.declaration.spec import TaskSpec

HEADING = re.compile(r"[^:፡፦፥\d\n]{1,60}(?::|[፡፦፥](?=[\s*_]))[*_]*\s*")  # Ge'ez colons; one of them also divides words


def documents(spec: TaskSpec, rows: list[dict[str, Any]], where: str, split: str) -> list[Document]:
    """Returns the rows as documents, in order.

    Raises:
        UserError: if a column is missing, or choices or answers cannot be parsed.
    """
    answer = spec.scoring.answer
    columns = [spec.choices] if isinstance(spec.choices, str) else spec.choices or []
    further = [*column_names(spec.choice_labels), *answer.further_columns]
    check_columns([*spec.field_columns.values(), *columns, *further, *spec.texts.values()], rows, spec.name, where)
    rows = _with_group_as_answer(spec, rows, where)
    check_answer_columns(spec, rows, where)
    rows = answer.prepare(spec, rows, spec.evaluated)
    texts = columns if isinstance(spec.choices, list) else []
    texts = [*texts, spec.worked] if spec.worked else texts
    # Columns that mark each choice as wrong or right have no texts.
    of_marks = [c for c in spec.answer_columns if spec.choices and isinstance(rows[0].get(c), list)]
    answers = [] if answer.lists or answer.columns else [c for c in spec.answer_columns if c not in of_marks]
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


def with_groups(fields: Mapping[str, Any], texts: dict[str, str], where: str) -> dict[str, str]:
    """Returns the fields of a row with its groups, in the order of the task file.

    Args:
        fields: of the task, as in its file.
        texts: the other fields of the row; one without text is in no group, and the group's name is empty too.
        where: the row, for messages.

    Raises:
        UserError: if a value is in no group.
    """
    if not any(isinstance(of, GroupedField) for of in fields.values()):
        return texts
    completed: dict[str, str] = {}
    for name, field in fields.items():
        if not isinstance(field, GroupedField):
            completed[name] = texts[name]
            continue
        value = completed[field.of]
        if value and value not in field.group_of:
            raise UserError(
                f"{where}: {field.of} {value!r} is in no group of {name}",
                f"correct the row, or add the value to fields.{name}.groups in the task file",
            )
        completed[name] = field.group_of[value] if value else ""
    return completed


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
        shown_cells = sorted({repr(spec.scoring.answer.cell(spec, row)) for row in rows})
        shown = f"{', '.join(shown_cells[:4])}{' ...' if shown_cells[4:] else ''}"
        named = " or ".join(map(repr, spec.scoring.answer.columns or spec.answer_columns))
        last = spec.first_answer + len(spec.labels) - 1
        allowed = f"; the labels are {', '.join(spec.labels)}, or {spec.first_answer} to {last}" if spec.labels else ""
        problem = f"{where}: no row has a gold answer; column {named} has {shown}{allowed}"
        raise UserError(problem, "write in labels what the data has" if spec.labels else "check the task file")
    if not spec.scoring.answer.has_choices or spec.choice_labels:
        return
    sound = [(row, d) for row, d in zip(rows, documents, strict=True) if DEFECT not in row]
    first, last = spec.first_answer, spec.first_answer + min(len(d.choices) for _, d in sound)
    cells = [spec.scoring.answer.cell(spec, row) for row, _ in sound]
    numbers = {digits(cell) for cell in cells if label_text(cell) not in spec.labels}
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
    where = f"{where}, row {number}"
    document = Document(number, with_groups(spec.fields, texts, where), (), None)
    document = spec.scoring.answer.parse_row(spec, row, document, partial(_text, spec), where)
    if spec.shuffle:  # the order of choices depends on the row's number alone, and so not on the language
        n_choices = range(len(document.choices))
        keys = [hashlib.sha256(f"{spec.fewshot_source}:{number}:{n}".encode()).digest() for n in n_choices]
        order = sorted(n_choices, key=keys.__getitem__)
        gold = None if document.gold is None else order.index(document.gold)
        document = replace(document, choices=tuple(document.choices[n] for n in order), gold=gold)
    defect = spec.scoring.kind.defect(document)
    return replace(document, gold=None, defect=defect) if defect else document


def _is_tokens(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(token, str) for token in value)


def _text(spec: TaskSpec, value: Any) -> str:
    """Returns a cell's text, as it is or normalised; without any text it is empty. Tokens are joined by blanks."""
    value = " ".join(value) if _is_tokens(value) else value
    return str(value) if (spec.verbatim or spec.data.verbatim) and normalise(value) else normalise(value)
