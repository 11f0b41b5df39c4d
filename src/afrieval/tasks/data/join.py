"""Completes rows from another data set: those with the same text have the missing columns."""

import ast
import json
import re
import unicodedata
from typing import Any

from afrieval._util.errors import UserError
from afrieval._util.tables import DEFECT, Row
from afrieval.tasks.data.schema import JoinSpec

LONGEST = 100_000  # characters of a dialog written as a Python literal; IFEval's have some thousand
NUMBERS = ("idx", "key", "index")  # columns that number rows, which may have them again
_WORDS = {"None": "null", "True": "true", "False": "false"}
# Unclosed texts match too, so that the search does not restart at each quote in them.
_TEXT_OR_WORD = re.compile(
    r"""(?P<text>"(?:[^"\\]|\\.)*"?|'(?:[^'\\]|\\.)*'?)|\b(?P<word>None|True|False)\b""", re.DOTALL
)


def joined(rows: list[Row], others: list[Row], spec: JoinSpec, where: str) -> list[Row]:
    """Returns all rows, in order, each with the columns of the one other row that has the same text.

    Whitespace and case are ignored. A row without a counterpart keeps its columns and gets the key DEFECT, which says
    why. Unused rows of the other data set are left out, and equal ones count once, so that no row is lost or doubled.

    Raises:
        UserError: if a column is missing, or different rows of the other data set have the same text.
    """
    by_text = _by_text(others, spec)
    completed = []
    for number, row in enumerate(rows):
        if DEFECT in row:
            completed.append(row)
            continue
        if spec.key not in row:
            raise UserError(f"{where}, row {number}, has no column {spec.key!r}", f"it has {', '.join(row)}")
        text = first_turn(str(row[spec.key])) if spec.dialog else str(row[spec.key])
        other = None if text is None else by_text.get(same_form(text))
        why = f"no row of {spec.hub} has its text" if text is not None else "its dialog cannot be parsed"
        completed.append({**row, DEFECT: why} if other is None else {**other, **row})
    return completed


def _by_text(others: list[Row], spec: JoinSpec) -> dict[str, Row]:
    by_text: dict[str, Row] = {}
    for other in (other for other in others if DEFECT not in other):
        if not isinstance(other.get(spec.other_key), str):
            raise UserError(f"{spec.hub} has a row without {spec.other_key!r}", f"it has {', '.join(other)}")
        before = by_text.setdefault(same_form(other[spec.other_key]), other)
        first, second = ([(k, v) for k, v in row.items() if k not in NUMBERS] for row in (before, other))
        if first != second:
            raise UserError(
                f"{spec.hub} has two different rows for {other[spec.other_key][:60]!r}", "download it again"
            )
    return by_text


def same_form(text: str) -> str:
    """Returns a text without differences of whitespace, case and the coding of accents."""
    return re.sub(r"\s+", " ", unicodedata.normalize("NFC", text)).strip().casefold()


def first_turn(text: str) -> str | None:
    """Returns the text of the first turn of a dialog, serialised as JSON or a Python literal; None if it is neither.

    `{"dialog": [{"body": "Write ...", "role": "user", "media": null}]}`. It is parsed as data and never executed.
    """
    for parse in (_json, _python):
        try:
            body = parse(text)["dialog"][0]["body"]
        except (ValueError, SyntaxError, KeyError, IndexError, TypeError, RecursionError, MemoryError):
            continue
        if isinstance(body, str):
            return body
    return None


def _json(text: str) -> Any:
    return json.loads(text, strict=False)


def _python(text: str) -> Any:
    """Parses a Python literal, which may contain JSON's null, true and false.

    Only its strings are given to Python's parser, one by one: it takes minutes for some texts that are not literals.
    """
    if len(text) > LONGEST:
        raise ValueError("the dialog is too long")
    return _json(
        _TEXT_OR_WORD.sub(
            lambda match: _WORDS[match["word"]] if match["word"] else json.dumps(ast.literal_eval(match["text"])), text
        )
    )
