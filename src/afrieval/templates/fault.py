"""Errors of templates, in words."""

from collections.abc import Callable
from typing import Any

from jinja2 import TemplateSyntaxError

LONGEST_TEXT = 10_000_000  # characters
MEMORY = 512  # MiB that rendering a template may take, if the system can limit it
WORDS: dict[type[Exception], str] = {
    MemoryError: f"it needs more than {MEMORY} MiB of memory",
    RecursionError: "it is nested too deeply, or calls itself endlessly",
    ZeroDivisionError: "it divides by zero",
}


class TemplateFault(Exception):
    """A template that cannot be rendered.

    Attributes:
        reason: why, in one line.
        ended: whether its process was ended, rather than failing.
    """

    def __init__(self, reason: str, ended: bool = False):
        super().__init__(reason)
        self.reason = reason
        self.ended = ended


def fault(error: Exception) -> TemplateFault:
    """Returns any exception of a template as a TemplateFault."""
    if isinstance(error, TemplateFault):
        return error
    for kind, words in WORDS.items():
        if isinstance(error, kind):
            return TemplateFault(words)
    said = error.msg if isinstance(error, SyntaxError) else error.args[-1] if error.args else ""
    text = " ".join(str(said)[:1000].split()).rstrip(".") or type(error).__name__
    text = "".join(c for c in text if c.isprintable())[:300]
    return TemplateFault(f"{text}, in line {error.lineno}" if isinstance(error, TemplateSyntaxError) else text)


def check_length(length: int) -> None:
    """Refuses a text that is too long for a prompt.

    Raises:
        TemplateFault: if it has too many characters.
    """
    if length > LONGEST_TEXT:
        raise TemplateFault(f"its text has more than {LONGEST_TEXT:,} characters")


def checked(text: str) -> str:
    """Returns a text, if a tokenizer can encode it.

    Raises:
        TemplateFault: if it has too many characters.
        UnicodeEncodeError: if it contains half a character, such as U+D800.
    """
    check_length(len(text))
    text.encode()
    return text


def replying(work: Callable[[Any], Any]) -> Callable[[Any], dict[str, Any]]:
    """Returns a function for a separate process, which returns the result of work, or the reason for a fault."""

    def reply(question: Any) -> dict[str, Any]:
        try:
            return {"result": work(question)}
        except Exception as e:  # all are faults of the template; the process must live on for the next one
            return {"fault": fault(e).reason}

    return reply
