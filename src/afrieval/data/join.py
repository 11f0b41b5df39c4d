"""Completes rows from another data set, which has what they lack under the same text."""

import ast
import json
import re
import unicodedata
from typing import Any

from afrieval.data.schema import JoinSpec
from afrieval.data.tables import DEFECT, Row
from afrieval.errors import UserError

LONGEST = 100_000  # characters of a dialog in Python's way; those of IFEval have some thousand
_WORDS = {"None": "null", "True": "true", "False": "false"}
# A text that is never closed is found too, so that the search does not begin again at each quote in it.
_TEXT_OR_WORD = re.compile(
    r"""(?P<text>"(?:[^"\\]|\\.)*"?|'(?:[^'\\]|\\.)*'?)|\b(?P<word>None|True|False)\b""", re.DOTALL
)


def joined(rows: list[Row], others: list[Row], spec: JoinSpec, where: str) -> list[Row]:
    """Returns all rows, in order, each with the columns of the one other row that has the same text.

    Texts are the same if they differ in blanks, line ends and capitals only. A row without a counterpart keeps its own
    columns and gets the key DEFECT, which says why; rows of the other data set that nobody asks for are left out,
    and equal ones count once, so that no row is lost and none is doubled.

    Args:
        rows: the rows to complete.
        others: rows of the other data set.
        spec: which columns hold the text.
        where: file, for messages.

    Raises:
        UserError: if a column is missing, or different rows of the other data set have the same text.
    """
    known = _by_text(others, spec)
    found = []
    for number, row in enumerate(rows):
        if DEFECT in row:
            found.append(row)
            continue
        if spec.key not in row:
            raise UserError(f"{where}, row {number}, has no column {spec.key!r}", f"it has {', '.join(row)}")
        text = first_turn(str(row[spec.key])) if spec.dialog else str(row[spec.key])
        other = None if text is None else known.get(same_form(text))
        why = f"no row of {spec.hub} has its text" if text is not None else "its dialog cannot be read"
        found.append({**row, DEFECT: why} if other is None else {**other, **row})
    return found


def _by_text(others: list[Row], spec: JoinSpec) -> dict[str, Row]:
    known: dict[str, Row] = {}
    for other in (other for other in others if DEFECT not in other):
        if not isinstance(other.get(spec.other_key), str):
            raise UserError(f"{spec.hub} has a row without {spec.other_key!r}", f"it has {', '.join(other)}")
        before = known.setdefault(same_form(other[spec.other_key]), other)
        if not _alike(before, other):
            raise UserError(f"{spec.hub} has two different rows for {other[spec.other_key][:60]!r}", "fetch it again")
    return known


def _alike(one: Row, other: Row) -> bool:
    """Tells whether two rows say the same; numbers by which a file counts its rows are nothing that a row says."""
    numbers = ("idx", "key", "index")
    return [(k, v) for k, v in one.items() if k not in numbers] == [
        (k, v) for k, v in other.items() if k not in numbers
    ]


def same_form(text: str) -> str:
    """Returns the same for texts that differ in blanks, line ends, capitals and coding of accents only."""
    return re.sub(r"\s+", " ", unicodedata.normalize("NFC", text)).strip().casefold()


def first_turn(text: str) -> str | None:
    """Returns what the first turn says of a dialog written out, as JSON or as Python writes it; None if it is neither.

    `{"dialog": [{"body": "Write ...", "role": "user", "media": null}]}`. It is read as data and never run.
    """
    for read in (_json, _python):
        try:
            body = read(text)["dialog"][0]["body"]
        except (ValueError, SyntaxError, KeyError, IndexError, TypeError, RecursionError, MemoryError):
            continue
        if isinstance(body, str):
            return body
    return None


def _json(text: str) -> Any:
    return json.loads(text, strict=False)


def _python(text: str) -> Any:
    """Reads a Python literal, in which null, true and false may stand as in JSON.

    Only its texts are given to Python, one by one: its parser takes minutes for some texts that are no literal.
    """
    if len(text) > LONGEST:
        raise ValueError("no dialog is so long")
    return _json(_TEXT_OR_WORD.sub(_in_json, text))


def _in_json(found: re.Match[str]) -> str:
    return _WORDS[found["word"]] if found["word"] else json.dumps(ast.literal_eval(found["text"]))
