"""What is wrong with a template, in words."""

from collections.abc import Callable
from typing import Any

from jinja2 import TemplateSyntaxError

LONGEST_TEXT = 10_000_000  # characters
MEMORY = 512  # MiB that filling a template in may take, where the system can limit it
WORDS: dict[type[Exception], str] = {
    MemoryError: f"it needs more than {MEMORY} MiB of memory",
    RecursionError: "it is nested too deeply, or calls itself without end",
    ZeroDivisionError: "it divides by zero",
}


class TemplateFault(Exception):
    """A template that cannot be filled in.

    Attributes:
        reason: why, in one line.
        ended: whether it was ended; otherwise it failed by itself.
    """

    def __init__(self, reason: str, ended: bool = False):
        super().__init__(reason)
        self.reason = reason
        self.ended = ended


def fault(error: Exception) -> TemplateFault:
    """Returns the fault that an exception is, whatever a template has raised."""
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
    """Refuses a text that no prompt is as long as.

    Raises:
        TemplateFault: if it has too many characters.
    """
    if length > LONGEST_TEXT:
        raise TemplateFault(f"it writes more than {LONGEST_TEXT:,} characters")


def checked(text: str) -> str:
    """Returns a whole text, if a tokenizer can take it.

    Raises:
        TemplateFault: if it has too many characters.
        UnicodeEncodeError: if it has half a character, as U+D800 is.
    """
    check_length(len(text))
    text.encode()
    return text


def replying(work: Callable[[Any], Any]) -> Callable[[Any], dict[str, Any]]:
    """Returns work as a process of its own does it: what comes of it, or the reason why nothing does."""

    def reply(question: Any) -> dict[str, Any]:
        try:
            return {"result": work(question)}
        except Exception as e:  # any is a fault of the template, and the next one is to be filled in
            return {"fault": fault(e).reason}

    return reply
