"""The tasks and languages of stored runs that a command is asked for, by name."""

from collections.abc import Callable, Sequence
from typing import TypeVar

from afrieval._util.errors import UserError, nearest
from afrieval.languages import LANGUAGES, codes_of, named

T = TypeVar("T")


def selected(every: Sequence[T], name: str, asked: Sequence[str], of: Callable[[T], str]) -> list[T]:
    """Returns what has one of the values that are asked for; all of it if none is.

    Args:
        every: cells, or first lines of them.
        name: `task` or `language`.
        asked: values; languages may have any name or code.
        of: returns the value of one of them.

    Raises:
        UserError: if nothing has a value.
    """
    known = dict.fromkeys(map(of, every))
    wanted = codes_of(asked) if name == "language" else list(asked)
    for value in wanted:
        if value not in known:
            shown = named(value) if name == "language" and value in LANGUAGES else repr(value)
            called = {code: named(code) if name == "language" else code for code in known}
            raise UserError(f"no run here has the {name} {shown}", nearest(value, called))
    return [one for one in every if not wanted or of(one) in wanted]
