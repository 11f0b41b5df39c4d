"""Reads which choice a generated answer begins with; strictly, as published prompts are read."""

import re
import unicodedata
from collections.abc import Sequence

# Marks that models put around an answer, and ones that end it.
_AROUND = " \t*_`\"'“”‘’«»()[]{}"
_MARK = r"[.,:;!?)\]*_`\"'”’»።፣፤፥፦،؛؟]"
_AFTER_WORD, _AFTER_LETTER = re.compile(rf"$|\s|{_MARK}"), re.compile(rf"\s*$|{_MARK}")
# What stands between the entries of a list: a comma or the like; between words also a single word, such as "or".
_COMMA = r"[\s)\]*_`\"'”’»]*[,/|;፣፤،؛][\s(\[*_`\"'“‘«]*"
_BETWEEN_LETTERS, _BETWEEN_WORDS = re.compile(_COMMA), re.compile(rf"{_COMMA}|[*_]*\s+\w+\s+[*_]*")


def read_choice(text: str, names: Sequence[str]) -> int | None:
    """Returns the index of the choice that an answer begins with, or None if it begins with none or with a list.

    The first line that is not empty is read. A letter counts if it stands alone or before a mark ("B", "(B)", "**B**",
    "B. p = 8"), in the capital form that was shown; a label word counts in upper or lower case. A list of several
    ("A, B, or C", "True or False"), with which models repeat the question, names none of them.

    Args:
        text: what the model wrote.
        names: letters, or label words, as they were shown; none begins with another.
    """
    lines = [line for line in unicodedata.normalize("NFC", text).splitlines() if line.strip(_AROUND)]
    if not lines:
        return None
    answer = lines[0].strip().lstrip(_AROUND)
    if (index := _named(answer, names)) is None:
        return None
    rest = answer.casefold()[len(names[index].casefold()) :] if len(names[index]) > 1 else answer[1:]
    after = (_BETWEEN_LETTERS if len(names[index]) == 1 else _BETWEEN_WORDS).match(rest)
    return index if after is None or _named(rest[after.end() :], names) in (None, index) else None


def _named(answer: str, names: Sequence[str]) -> int | None:
    for index, name in enumerate(names):
        letter = len(name) == 1  # as it was shown and no article: "A" is also a word
        shown, answered = (name, answer) if letter else (name.casefold(), answer.casefold())
        if answered.startswith(shown) and (_AFTER_LETTER if letter else _AFTER_WORD).match(answered, len(shown)):
            return index
    return None
