"""The one way to the screen: what comes from data, names and files is shown there, and never obeyed."""

import io
import logging
import os
import re
import sys
import traceback
import warnings
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, TextIO

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

# What a terminal obeys, or what nobody sees: C0 controls but tab and newline, DEL, C1 controls; lone surrogates, which
# cannot be written; line and paragraph separators; embeddings, overrides and isolates of direction, which make a text
# look like another; and characters without width that belong to no spelling: soft hyphen, zero width space, joiner of
# words, invisible operators, byte order mark, annotations, tags.
# ZWJ, ZWNJ and variation selectors stay, for Arabic script and emoji need them; so do LRM, RLM and ALM, which stand in
# Arabic text and move no more than the punctuation next to them.
_UNSEEN = (
    r"\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u200b\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    r"\ud800-\udfff\U000e0000-\U000e007f"
)
_DANGEROUS = re.compile(f"[{_UNSEEN}]")
_OF_A_LINE = re.compile(f"[\t\n{_UNSEEN}]")


def visible(text: str) -> str:
    r"""Returns a text with characters that a terminal would obey, or nobody would see, as escapes such as `\x1b`.

    Newlines, tabs, and all that any script needs, stay as they are.
    """
    return _DANGEROUS.sub(_escape, text)


def one_line(text: object) -> str:
    r"""Returns a text as `visible` does, in one line: newlines and tabs are `\n` and `\t`."""
    return _OF_A_LINE.sub(_escape, str(text))


def _escape(found: re.Match[str]) -> str:
    return found[0].encode("unicode_escape").decode("ascii")


def say(text: str = "") -> None:
    """Prints what a user asked for to standard output, at once, so that it stays in order with notes."""
    _write(visible(text), sys.stdout)


def note(text: str = "") -> None:
    """Prints one line on what happens to standard error."""
    _write(one_line(text), sys.stderr)


def complain(message: str, hint: str) -> None:
    """Prints what is wrong, and how to put it right: one line each, on standard error."""
    note(f"error: {message}")
    note(f"hint: {hint}")


def _write(text: str, stream: TextIO) -> None:
    print(text, file=stream, flush=True)


def console(least: int = 0, **options: Any) -> "Console":
    """Returns a Console of rich for which a text is just that: no markup, no emoji codes, no highlights.

    Args:
        least: its width if the terminal is narrower; lines then break, and numbers are not cut.
        options: of rich's Console, such as `stderr`, `quiet` and `file`.
    """
    from rich.console import Console

    class Screen(Console):
        """Makes all strings visible that rich measures or prints, those of tables too."""

        def render_str(self, text: str, **options: Any) -> "Text":
            return super().render_str(visible(text), **options)

        def on_broken_pipe(self) -> None:
            raise  # where rich would end the process, with an exit code that is not ours

    screen = Screen(markup=False, emoji=False, highlight=False, **options)
    if screen.width < least:
        screen.width = least
    return screen


class _Record(logging.LogRecord):
    """A record of any log whose message is made visible; one of ours is one line."""

    def getMessage(self) -> str:
        message = super().getMessage()
        return one_line(message) if self.name == "afrieval" else visible(message)


def prepare() -> None:
    """Prepares this process' streams, logs, warnings and tracebacks for text of any kind.

    Prompts are printed in UTF-8 where the locale knows ASCII only, as on many clusters, and nothing that is printed
    raises a UnicodeEncodeError.
    """
    _fill()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
    logging.setLogRecordFactory(_Record)
    warnings.formatwarning = _warning
    sys.excepthook = _failure


def _fill() -> None:
    """Opens streams that were closed when the process began: a data file would get their numbers and their text."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            mode = "w" if number else "r"
            setattr(sys, name, Path(os.devnull).open(mode))  # noqa: SIM115 - open until the end


_plain_warning = warnings.formatwarning


def _warning(*args: Any, **options: Any) -> str:
    return visible(_plain_warning(*args, **options))


def _failure(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    _write(visible("".join(traceback.format_exception(kind, error, trace))).rstrip(), sys.stderr)
