"""Converts rows with complete prompts, as in Meta's published evaluations, to documents."""

import re
from typing import Any

from afrieval._util.errors import UserError
from afrieval._util.tables import DEFECT, Row
from afrieval.tasks.answers.cell_values import normalise
from afrieval.tasks.answers.choices import LETTERS
from afrieval.tasks.data.document import Document
from afrieval.tasks.data.documents import check_answer_columns, check_columns, keyed, with_groups
from afrieval.tasks.declaration.spec import TaskSpec

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
