"""Rows with complete prompts, as in published evaluations: completed from another data set, and as documents."""

import ast
import json
import re
import unicodedata
from typing import Any

from afrieval._util.errors import UserError
from afrieval._util.tables import DEFECT, Row
from afrieval.tasks.answers.cell_values import normalise
from afrieval.tasks.answers.choices import LETTERS
from afrieval.tasks.data.document import Document
from afrieval.tasks.data.documents import check_answer_columns, check_columns, keyed, with_groups
from afrieval.tasks.data.schema import JoinSpec
from afrieval.tasks.declaration.spec import TaskSpec

LONGEST = 100_000  # characters of a dialog written as a Python literal; IFEval's have some thousand
NUMBERS = ("idx", "key", "index")  # columns that number rows, which may have them again
_WORDS = {"None": "null", "True": "true", "False": "false"}
# Unclosed texts match too, so that the search does not restart at each quote in them.
_TEXT_OR_WORD = re.compile(
    r"""(?P<text>"(?:[^"\\]|\\.)*"?|'(?:[^'\\]|\\.)*'?)|\b(?P<word>None|True|False)\b""", re.DOTALL
)
_LETTER = re.compile(r"(?:.*(?i:answer)(?:\s+is)?)?[^A-Za-z0-9]*([A-J])[^A-Za-z0-9]*", re.DOTALL)  # no "A. Vitamin D"
_ANSWERED = re.compile(r" [A-J]\Z")


def recorded_documents(spec: TaskSpec, rows: list[Row], where: str) -> list[Document]:
    """Returns the rows as documents, in order, with their prompts unchanged.

    The choices are letters, since these are what the prompts ask for.

    Raises:
        UserError: if a column or prompt is missing, or no row can be scored.
    """
    choices = spec.choices if isinstance(spec.choices, str) else None
    columns = [*spec.field_columns.values(), spec.prompt, spec.verdict, choices]
    check_columns([column for column in columns if column], rows, spec.name, where)
    if sound := [row for row in rows if DEFECT not in row]:
        check_answer_columns(spec, sound, where)
    documents = keyed(spec, rows, [_document(spec, number, row, where) for number, row in enumerate(rows)])
    if all(d.gold is None for d in documents):
        raise UserError(f"{where}: no row can be scored: {documents[0].defect}", "check the data")
    return documents


def _document(spec: TaskSpec, number: int, row: Row, where: str) -> Document:
    where = f"{where}, row {number}"
    fields = {name: normalise(row[column]) for name, column in spec.field_columns.items()}
    fields = with_groups(spec.fields, fields, where)
    recorded = _first(row[spec.verdict]) if spec.verdict else None
    if isinstance(recorded, str):
        recorded = {"true": True, "false": False}.get(recorded.strip().lower())
    verdict = None if recorded is None else bool(recorded)  # whether the authors' own answer was right
    if DEFECT in row:  # it cannot be parsed, or was not completed
        prompt = str(_first(row[str(spec.prompt)]) or "")
        return Document(number, fields, (), None, row[DEFECT], prompt=prompt, verdict=verdict)
    choices = tuple(LETTERS[: _n_choices(spec, row, where)]) if spec.scoring.answer.has_choices else ()
    gold, defect = _gold(spec, row, choices)
    return Document(number, fields, choices, gold, defect, prompt=_prompt(spec, row, where), verdict=verdict)


def _n_choices(spec: TaskSpec, row: Row, where: str) -> int:
    choices = row[str(spec.choices)] or []
    texts = [choices[letter] for letter in sorted(choices)] if isinstance(choices, dict) else choices
    # Parquet fills up maps with null for letters that other rows have.
    n = max((number for number, text in enumerate(texts, 1) if text is not None), default=0)
    if not 2 <= n <= len(LETTERS):
        raise UserError(f"{where}: the number of choices must be 2 to {len(LETTERS)}, not {n}", "correct the row")
    return n


def _prompt(spec: TaskSpec, row: Row, where: str) -> str:
    prompt = _first(row[str(spec.prompt)])
    if not isinstance(prompt, str) or not prompt.strip():
        raise UserError(f"{where} has no prompt in column {spec.prompt!r}", "fetch the data again")
    if prompt.startswith(("['", '["')):
        raise UserError(f"{where}: column {spec.prompt!r} holds a list as text", "use the original parquet files")
    if not spec.answer_in_prompt:
        return prompt
    if not _ANSWERED.search(prompt):
        raise UserError(
            f"{where}: the prompt must end with a space and a letter, not {prompt[-9:]!r}", "correct the row"
        )
    return prompt[:-2]


def _gold(spec: TaskSpec, row: Row, choices: tuple[str, ...]) -> tuple[Any, str]:
    """Returns the right answer and an empty text, or None and the defect."""
    answer = spec.scoring.answer
    if answer.columns:
        (row,) = answer.prepare(spec, [row], spec.evaluated)
        return answer.gold(spec, row), ""
    column = next((column for column in spec.answer_columns if column in row), None)
    cell = _first(row[column]) if column else None
    if not answer.has_choices:
        gold = answer.parse(cell)
        return gold, "" if gold is not None else answer.missing
    letter = _LETTER.fullmatch(normalise(cell))
    if letter is None or letter[1] not in choices:
        return None, answer.missing
    return choices.index(letter[1]), ""


def _first(value: Any) -> Any:
    """Returns the first entry of a list, or the value itself."""
    return next(iter(value), None) if isinstance(value, list | tuple) else value


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
    for as_json in (str, _literal_as_json):
        try:
            body = json.loads(as_json(text), strict=False)["dialog"][0]["body"]
        except (ValueError, SyntaxError, KeyError, IndexError, TypeError, RecursionError, MemoryError):
            continue
        if isinstance(body, str):
            return body
    return None


def _literal_as_json(text: str) -> str:
    """Returns a Python literal, which may contain JSON's null, true and false, as JSON.

    Only its strings are given to Python's parser, one by one: it takes minutes for some texts that are not literals.
    """
    if len(text) > LONGEST:
        raise ValueError("the dialog is too long")
    return _TEXT_OR_WORD.sub(
        lambda match: _WORDS[match["word"]] if match["word"] else json.dumps(ast.literal_eval(match["text"])), text
    )
