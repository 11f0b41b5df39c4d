"""The tasks and languages of stored runs that a command is asked for, by name."""

from collections.abc import Callable, Sequence
from typing import TypeVar

from afrieval._util.errors import UserError, nearest
from afrieval.languages import LANGUAGES, codes_of, named

T = TypeVar("T")


def selected(rows: Sequence[T], name: str, values: Sequence[str], field: Callable[[T], str]) -> list[T]:
    """Returns the rows of some tasks or languages; all of them if none is named.

    Args:
        rows: cells, or first lines of them.
        name: `task` or `language`.
        values: the names that are asked for; languages may have any name or code.
        field: returns the task or language of a row.

    Raises:
        UserError: if nothing has a value.
    """
    in_rows = dict.fromkeys(map(field, rows))
    chosen = codes_of(values) if name == "language" else list(values)
    for value in chosen:
        if value not in in_rows:
            shown = named(value) if name == "language" and value in LANGUAGES else repr(value)
            called = {code: named(code) if name == "language" else code for code in in_rows}
            raise UserError(f"no run here has the {name} {shown}", nearest(value, called))
    return [one for one in rows if not chosen or field(one) in chosen]
