"""Answer types: how a right answer is parsed from a row and shown in a worked example."""

import ast
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from afrieval.scoring.extract.boxed import last_boxed
from afrieval.scoring.extract.number import parse_number


@dataclass(frozen=True)
class AnswerType:
    """A type of right answers.

    Attributes:
        example: an example, as extracted from a response.
        parse: converts the answer column's value to the right answer; None if it has none. Not used
            for choices, whose index depends on the row's other columns.
        shown: converts the right answer to its text in a worked example.
        missing: the defect of a row without a right answer.
        is_choice: whether the answer is the index of a choice.
        is_class: whether the choices are the task's labels.
        is_list: whether a cell may hold a list.
        is_worked_out: whether models reason before they answer, even without being asked.
        columns: the columns that make up the answer, if not the task file's `answer`.
        prepare: downloads resources that scoring needs and the package does not include.
    """

    example: Any
    parse: Callable[[Any], Any] = lambda value: normalise(value) or None
    shown: Callable[[Any], str] = str
    missing: str = "no gold answer"
    is_choice: bool = False
    is_class: bool = False
    is_list: bool = False
    is_worked_out: bool = False
    columns: tuple[str, ...] = ()
    prepare: Callable[[], None] = lambda: None


def normalise(value: Any) -> str:
    """Returns a cell's text in NFC, stripped of leading and trailing whitespace."""
    missing = value is None or value != value  # a missing number is NaN in some files
    return unicodedata.normalize("NFC", "" if missing else str(value)).strip()


def _whole_number(value: Any) -> int | None:
    number = parse_number(normalise(value))
    return int(number) if number is not None and number == int(number) else None


def _texts(value: Any) -> list[str] | None:
    """Parses a list, the text of a Python list, or a single text."""
    if isinstance(value, str) and value.strip().startswith("["):
        try:
            value = ast.literal_eval(value.strip())
        except (SyntaxError, ValueError, TypeError, MemoryError, RecursionError):
            return None
    given = value if isinstance(value, list | tuple) else [value]
    texts = [normalise(entry) for entry in given]
    return None if "" in texts else texts


def _instructions(row: dict[str, Any]) -> dict[str, Any]:
    """Returns the row with the arguments of IFEval's checkers in the same form for every file type."""
    from afrieval.scoring.ifeval.checkers import whole
    from afrieval.scoring.ifeval.instructions import build_checkers

    # Parquet fills up maps with nulls, and makes floats of counts.
    given = [{k: whole(v) for k, v in sorted((kwargs or {}).items()) if v is not None} for kwargs in row["kwargs"]]
    instructions = {**row, "kwargs": given}
    build_checkers(instructions)
    return instructions


def _fetch_sentences() -> None:
    from afrieval.scoring.ifeval.checkers import fetch_sentence_model

    fetch_sentence_model()


ANSWERS = {
    "index": AnswerType(0, missing="no gold answer among the choices", is_choice=True),
    "label": AnswerType(0, missing="no gold answer among the choices", is_choice=True, is_class=True),
    "number": AnswerType(1, _whole_number, missing="no gold answer that is a whole number", is_worked_out=True),
    "text": AnswerType("x"),
    "texts": AnswerType(["x"], _texts, shown=", ".join, is_list=True),
    "mathematics": AnswerType("x", lambda value: last_boxed(normalise(value)) or None, is_worked_out=True),
    "instructions": AnswerType(
        {"strict": [True], "loose": [True]},
        _instructions,
        shown=lambda gold: ", ".join(gold["instruction_id_list"]),
        columns=("key", "instruction_id_list", "kwargs"),
        prepare=_fetch_sentences,
    ),
}
