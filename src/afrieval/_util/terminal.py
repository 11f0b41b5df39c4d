"""All output to the screen: control characters from data, names and files are escaped."""

import io
import logging
import os
import re
import sys
import traceback
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

# What a terminal interprets, or what is invisible: C0 controls except tab and newline, DEL, C1 controls; lone
# surrogates, which cannot be written; line and paragraph separators; embeddings, overrides and isolates of direction,
# which make a text look like another; and characters without width that no spelling needs: soft hyphen, zero width
# space, word joiner, invisible operators, byte order mark, annotations, tags.
# ZWJ, ZWNJ and variation selectors stay, since Arabic script and emoji need them; so do LRM, RLM and ALM, which occur
# in Arabic text and move only the punctuation next to them.
_UNSEEN = (
    r"\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u200b\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    r"\ud800-\udfff\U000e0000-\U000e007f"
)
LONGEST, OF_A_CELL, OF_A_WORD = 4_000, 600, 120  # characters of a note, of a cell of a table, and of a word in it
LONG = 180  # characters of a value in a sentence
_DANGEROUS = re.compile(f"[{_UNSEEN}]")
_OF_A_LINE = re.compile(f"[\t\n{_UNSEEN}]")


def visible(text: str) -> str:
    r"""Returns a text with control and invisible characters as escapes such as `\x1b`.

    Newlines, tabs, and all characters that a script needs, are kept.
    """
    return _DANGEROUS.sub(_escape, text)


def dollars(amount: float) -> str:
    """Returns an amount of money, to a millionth of a dollar: $0.50, $0.000155."""
    cents, rest = f"{amount:,.6f}"[:-4], f"{amount:.6f}"[-4:].rstrip("0")
    return f"${cents}{rest}"


def one_line(text: object) -> str:
    r"""Returns a text as `visible` does, in one line: newlines and tabs become `\n` and `\t`."""
    return _OF_A_LINE.sub(_escape, str(text))


def brief(text: object, most: int = LONGEST) -> str:
    """Returns a text as `one_line` does, without the middle of long words and of what is very long.

    Tables that are shown are made of such texts: a name of a model may have any length.
    """
    half = OF_A_WORD // 2
    words = re.sub(rf"\S{{{OF_A_WORD + 1},}}", lambda word: f"{word[0][:half]}…{word[0][-half:]}", str(text))
    return one_line(shortened(words, most))


def shortened(text: str, most: int = LONG) -> str:
    """Returns a text of at most this many characters; the middle of longer ones is left out, with a remark."""
    if len(text) <= most:
        return text
    left = max(most - 40, 3)  # the remark has some 35 characters
    end = left // 3
    return f"{text[: left - end]}… {len(text) - left:,} characters are not shown …{text[-end:]}"


def _escape(match: re.Match[str]) -> str:
    return match[0].encode("unicode_escape").decode("ascii")


def say(text: str = "") -> None:
    """Prints the output that a user asked for, unbuffered, so that it stays in order with notes."""
    print(visible(text), flush=True)


def note(text: str = "") -> None:
    """Prints one line of information to standard error; the middle of a very long one is left out."""
    print(one_line(shortened(text, LONGEST)), file=sys.stderr, flush=True)


def complain(message: str, hint: str) -> None:
    """Prints an error and how to fix it: one line each, on standard error."""
    note(f"error: {message}")
    note(f"hint: {hint}")


def console(**options: Any) -> "Console":
    """Returns a Console of rich that prints text verbatim: no markup, no emoji codes, no highlights."""
    from rich.console import Console

    class EscapingConsole(Console):
        """Escapes all strings that rich measures or prints, also in tables."""

        def render_str(self, text: str, **options: Any) -> "Text":
            return super().render_str(visible(text), **options)

        def on_broken_pipe(self) -> None:
            raise  # rich would end the process, with another exit code

    return EscapingConsole(markup=False, emoji=False, highlight=False, **options)


def styled(text: object, style: str = "") -> "Text":
    """Returns a text as one escaped line in a style of rich, for a console."""
    from rich.text import Text

    return Text(one_line(text), style)


class _Record(logging.LogRecord):
    """A log record with an escaped message; a message of ours is one line."""

    def getMessage(self) -> str:
        message = super().getMessage()
        return one_line(message) if self.name == "afrieval" else visible(message)


def prepare() -> None:
    """Prepares this process' streams, logs, warnings and tracebacks for any text.

    Prompts are printed in UTF-8 even if the locale is ASCII, as on many clusters, and printing never raises a
    UnicodeEncodeError.
    """
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:  # closed at the start: a data file could get its number, and output
            setattr(sys, name, Path(os.devnull).open("w" if number else "r"))  # noqa: SIM115 - open until the end
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
    logging.setLogRecordFactory(_Record)
    warnings.formatwarning = lambda *args, **options: visible(_plain_warning(*args, **options))
    sys.excepthook = lambda *error: print(
        visible("".join(traceback.format_exception(*error))).rstrip(), file=sys.stderr, flush=True
    )


_plain_warning = warnings.formatwarning
