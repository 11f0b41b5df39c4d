"""The one exception that is shown to users without a traceback, and how a hint names what is known."""

import difflib


class UserError(Exception):
    """Something the user can mend.

    Args:
        message: what is wrong, in one line, with the offending value.
        hint: how to mend it, in one line.
    """

    def __init__(self, message: str, hint: str):
        super().__init__(message, hint)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message} ({self.hint})"


def nearest(name: str, known: list[str]) -> str:
    """Returns a hint: the known name that looks most like `name`, or all of them."""
    near = difflib.get_close_matches(name, known, n=1, cutoff=0.5)
    return f"did you mean {near[0]}?" if near else f"choose from {', '.join(known)}"
