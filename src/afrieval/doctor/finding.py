"""What a check of the machine found."""

from typing import Literal, NamedTuple

from afrieval.errors import UserError

Status = Literal["ok", "note", "problem"]


class Finding(NamedTuple):
    """A line of `afrieval doctor`.

    Attributes:
        check: what was looked at.
        status: ok; note, if nothing keeps the given config from running; or problem.
        found: what there is.
        cure: what the user can do; empty if there is nothing to do.
    """

    check: str
    status: Status
    found: str
    cure: str = ""


def of_error(check: str, error: UserError) -> Finding:
    """Returns an error that a run would end with, as a problem."""
    return Finding(check, "problem", error.message, error.hint)
