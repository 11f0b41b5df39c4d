"""Removes stray whitespace from texts of prompts; nothing else is changed."""

import re

BLANKS = re.compile(r"[ \t]+")
LINE_END = re.compile(r"\r\n?")
EMPTY_LINES = re.compile(r"\n{3,}")


def clean(text: str) -> str:
    """Returns a text without indentation, repeated or trailing spaces, or repeated empty lines.

    Spaces include tabs; a no-break space is text. Both ends are stripped.
    """
    lines = [BLANKS.sub(" ", line).strip(" ") for line in LINE_END.sub("\n", text).split("\n")]
    return EMPTY_LINES.sub("\n\n", "\n".join(lines)).strip("\n")
