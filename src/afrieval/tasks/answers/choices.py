"""Answers that are one of a row's choices: texts of its own, or the task's labels."""

import ast
import json
import re
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from decimal import Decimal
from string import ascii_uppercase
from types import NoneType
from typing import Any

from afrieval._util.errors import UserError
from afrieval.scoring.base import CHOICE
from afrieval.tasks.answers.base import AnswerType, Row, require
from afrieval.tasks.answers.cell_values import digits, label_text, normalise, parse_list
from afrieval.tasks.data.document import Document
from afrieval.tasks.declaration.schema import column_names
from afrieval.tasks.declaration.task_file import TaskFile

LETTERS = ascii_uppercase
CELL_TYPES = (str, int, float, Decimal, NoneType)  # what a cell with a text or a number holds
BLANK = re.compile("_+")


class Index(AnswerType):
    """The index of one of the choices."""

    form = CHOICE
    missing = "no gold answer among the choices"
    keys = frozenset({"choices", "labels"})
    only_form = ""
    has_choices = True
    announced = True

    def check(self, spec: TaskFile) -> None:
        """Refuses choices besides labels, and neither."""
        require(bool(spec.choices) != bool(spec.labels), "either choices or labels must be given")
        super().check(spec)

    def parse_row(
        self, spec: TaskFile, row: Row, document: Document, text: Callable[[Any], str], where: str
    ) -> Document:
        """Returns a document with its choices, the index of the right one, and the text after a blank for them."""
        choices = tuple(spec.labels) or choices_of(spec, row, text, where)
        if isinstance(spec.choices, list) and spec.answer in spec.choices:
            gold: int | None = spec.choices.index(spec.answer)
        else:
            gold = self._gold(spec, row, len(choices))
        answered = self.answered(spec, row, document, choices, gold)
        if not spec.blank:
            return answered
        rest = BLANK.split(document.fields[spec.blank])[1:]
        if len(rest) != 1 or not rest[0].strip():
            return replace(answered, gold=None, defect=f"no single blank with a text after it in {spec.blank}")
        return replace(answered, rest=rest[0].strip())

    def _gold(self, spec: TaskFile, row: Row, n: int) -> int | None:
        """Returns the index of the right choice; a number in the data also counts the texts that are not choices."""
        named = _named(row[spec.choices]) if isinstance(spec.choices, str) else None
        if named is None:  # it may name a label of the task's, the label of a choice, or a letter
            columns = list(column_names(spec.choice_labels))
            cells = parse_list(row[columns[0]]) if len(columns) == 1 else [row[column] for column in columns]
            labels = [normalise(label) for label in cells] if cells is not None and len(cells) == n else []
            return position(self.cell(spec, row), spec.labels or labels or list(LETTERS[:n]), spec.first_answer)
        names = [*named]
        gold = position(self.cell(spec, row), names, spec.first_answer)
        choice_names = [name for name, text in named.items() if _is_choice(text)] if n else []
        return None if gold is None or names[gold] not in choice_names else choice_names.index(names[gold])


class Label(Index):
    """The index of one of the task's labels."""

    def check(self, spec: TaskFile) -> None:
        """Refuses a task without labels."""
        super().check(spec)
        require(spec.labels, "a task of this kind needs labels")


def choices_of(spec: TaskFile, row: Row, text: Callable[[Any], str], where: str) -> tuple[str, ...]:
    """Parses option texts from separate columns, a list, a map of names to texts, or the text of one of them."""
    if not isinstance(spec.choices, str):
        cells = [row[column] for column in spec.choices or ()]
        while spec.fewer_choices and len(cells) > 2 and cells[-1] is None:
            cells.pop()
        return tuple(map(text, cells))
    value = row[spec.choices]
    if (named := _named(value)) is not None:
        value = [entry for entry in named.values() if _is_choice(entry)]
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
    if not all(isinstance(entry, CELL_TYPES) for entry in value):
        raise UserError(f"{where}: choices must all be texts, not {shown}", "correct the row")
    return tuple(map(text, value))


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


def position(value: Any, names: list[str], first: int) -> int | None:
    """Parses the index of the right choice from its name, its number counted from `first`, or a 0 or 1 per choice."""
    if isinstance(value, list):
        marked = [index for index, mark in enumerate(value) if mark]
        return marked[0] if len(value) == len(names) and len(marked) == 1 else None
    text, names = label_text(value), [*map(label_text, names)]
    letter = text.upper() if names == list(LETTERS[: len(names)]) else text
    if matches := [name for name in (text, text.removesuffix(".0"), letter) if name in names]:
        return names.index(matches[0])
    number = None if any(map(str.isdecimal, names)) else digits(text)  # a number that is not among them is no position
    return number - first if number is not None and 0 <= number - first < len(names) else None
