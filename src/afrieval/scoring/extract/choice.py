"""Reads which choice a generated answer names; strictly, so that what cannot be read is said and not guessed."""

import re
import unicodedata
from collections.abc import Sequence

from afrieval.scoring.base import Extractor

# Marks that models put around an answer, and ones that end it.
_AROUND = " \t*_`\"'“”‘’«»()[]{}"
_MARK = r"[.,:;!?)\]*_`\"'”’»።፣፤፥፦،؛؟]"
_AFTER_WORD, _AFTER_LETTER = re.compile(rf"$|\s|{_MARK}"), re.compile(rf"\s*$|{_MARK}")


def choice() -> Extractor:
    """Returns what takes the choice that the answer begins with, as its index."""
    return lambda text, question, asked: read_choice(text, question.names)


def read_choice(text: str, names: Sequence[str]) -> int | None:
    """Returns the index of the choice that an answer begins with, or None if it begins with none.

    The first line that is not empty is read. A letter counts if it stands alone or before a mark ("B", "(B)", "**B**",
    "B. p = 8"), in the capital form that was shown; a label word counts in upper or lower case.

    Args:
        text: what the model wrote.
        names: letters, or label words, as they were shown; none begins with another.
    """
    lines = [line for line in unicodedata.normalize("NFC", text).splitlines() if line.strip(_AROUND)]
    if not lines:
        return None
    answer = lines[0].strip().lstrip(_AROUND)
    for index, name in enumerate(names):
        letter = len(name) == 1  # as it was shown and no article: "A" is also a word
        shown, given = (name, answer) if letter else (name.casefold(), answer.casefold())
        if given.startswith(shown) and (_AFTER_LETTER if letter else _AFTER_WORD).match(given, len(shown)):
            return index
    return None


def final_answer(text: str, thinking_end: str) -> str:
    """Returns what a model wrote after its thinking; nothing if the thinking did not end.

    Args:
        text: all it wrote.
        thinking_end: what its thinking ends with; empty for a model that does not think.
    """
    if not thinking_end:
        return text
    return text.rpartition(thinking_end)[2] if thinking_end in text else ""
