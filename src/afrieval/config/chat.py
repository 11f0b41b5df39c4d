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


def check_chat(chat_template: bool, system: str | None, date: str | None) -> None:
    """Refuses settings of chats without a chat template, and dates that templates do not write.

    Raises:
        UserError: names the setting.
    """
    for name, given in (("chat_system", system), ("chat_date", date)):
        if given and not chat_template:
            raise UserError(f"model.{name} has no effect without a chat template", "give --model.chat_template true")
    try:
        if date is not None:
            datetime.strptime(date, DATE_FORM)
    except ValueError:
        raise UserError(f"model.chat_date is {date!r}", "give a date such as 26 Jul 2024") from None
