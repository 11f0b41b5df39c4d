"""Settings of how a chat becomes the text of a prompt; the docstrings of fields are the help of the command line."""

from dataclasses import dataclass
from datetime import datetime

from afrieval.errors import UserError
from afrieval.files.schema import CLOSED

DATE_FORM = "%d %b %Y"


@dataclass(frozen=True)
class ChatTags:
    """Literal texts around the turns of a chat."""

    __pydantic_config__ = CLOSED

    user_start: str = ""
    """Text before each turn of the user, such as "[INST] "."""
    user_end: str = ""
    """Text after each turn of the user, such as " [/INST]"."""
    assistant_start: str = ""
    """Text before each answer, such as "Answer: "."""
    assistant_end: str = ""
    """Text after each answer of an example. The model's own answer ends with its end-of-text token."""
    system_start: str = ""
    """Text before the system text. Default: without it and system_end, the system text begins the user's first turn."""
    system_end: str = ""
    """Text after the system text."""


def check_date(date: str | None) -> None:
    """Refuses a text that is not a date as chat templates write it.

    Raises:
        UserError: if it cannot be parsed.
    """
    try:
        if date is not None:
            datetime.strptime(date, DATE_FORM)
    except ValueError:
        raise UserError(f"model.chat_date is {date!r}", "give a date such as 26 Jul 2024") from None
