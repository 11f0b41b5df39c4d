"""The texts of a row whose likelihood is measured, each with its role."""

from typing import Any

from afrieval.errors import UserError
from afrieval.tasks.answers import normalise, parse_list
from afrieval.tasks.spec import TaskSpec

TEXTS = (str, int, float)  # what a text may be in a table


def texts_of(spec: TaskSpec, row: dict[str, Any], where: str) -> list[tuple[str, str]]:
    """Returns role and text of all texts of a row, in the order of the task file; empty if one is missing or empty.

    Args:
        spec: the task.
        row: column to value; a cell may be a text, a list of texts or the text of a Python list.
        where: file and row, for messages.

    Raises:
        UserError: for a cell with anything else.
    """
    found: list[tuple[str, str]] = []
    for role, column in spec.texts.items():
        texts = _texts(spec, row[column], f"{where}: column {column!r}")
        if not texts or "" in texts:
            return []
        found += [(role, text) for text in texts]
    return found


def _texts(spec: TaskSpec, cell: Any, where: str) -> list[str]:
    if cell is None or cell != cell:
        return []
    cells = parse_list(cell)
    if cells is None or not all(isinstance(text, TEXTS) or text is None for text in cells):
        raise UserError(f"{where} must be a text or a list of texts, not {cell!r:.60}", "correct the row")
    whole = spec.verbatim or spec.data.verbatim
    return [str(text) if whole and normalise(text) else normalise(text) for text in cells]
