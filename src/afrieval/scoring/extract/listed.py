"""A list with one entry per line in a generated text."""

import unicodedata
from collections.abc import Callable, Sequence

from afrieval.scoring.tagged import Pair


def listed(text: str, parse: Callable[[str], Pair | None], is_none: Callable[[str], bool]) -> list[Pair] | None:
    """Returns the first entries that follow each other; None if no line is one.

    Lines before them are an introduction. The first line with text after them that is no entry ends the list; chat
    models put empty lines between entries.

    Args:
        text: what the model wrote.
        parse: a line, without blanks at its ends or runs of blanks, to its entry; None if it is none.
        is_none: whether a line says that the list is empty.
    """
    found: list[Pair] = []
    for line in unicodedata.normalize("NFC", text).split("\n"):
        plain = " ".join(line.split())
        if (entry := parse(plain)) is not None:
            found.append(entry)
        elif found and plain:
            break
        elif not found and is_none(plain):
            return []
    return found or None


def named(names: Sequence[str]) -> dict[str, str]:
    """Returns names by what they are in lower case."""
    return {name.casefold(): name for name in names}
