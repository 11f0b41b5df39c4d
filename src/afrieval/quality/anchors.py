"""What translations of a text have in common: numbers, and parts of names and of other long words."""

import re
import unicodedata
from functools import cache

LENGTH = 4  # letters; parts of this length survive prefixes, as in zul iPharis and sna neParis
_LETTERS = re.compile(r"[^\W\d_]+")
_WORD = re.compile(r"\d+(?:[.,]\d+)*|[^\W\d_]+")


def anchors(text: str) -> set[str]:
    """Returns the numbers in a text, and all parts of four letters of its words.

    Case and accents are ignored. Ethiopic syllables are spelled in Latin letters, so that names in Amharic and Tigrinya
    have something in common with those in other languages; other scripts share numbers only.
    """
    found = set()
    for word in _WORD.findall(_latin(text)):
        if word[0].isdigit():
            found.add(re.sub("[.,]", "", word))
        else:
            found |= {word[at : at + LENGTH] for at in range(len(word) - LENGTH + 1)}
    return found


def _latin(text: str) -> str:
    return "".join(map(_letters, unicodedata.normalize("NFKD", text.casefold())))


@cache
def _letters(character: str) -> str:
    """Returns a character in ASCII, as far as Unicode's names say how; an accent is nothing."""
    if unicodedata.combining(character):
        return ""
    if character.isdigit():
        return str(unicodedata.digit(character, character))
    kind, _, name = unicodedata.name(character, "").partition(" SYLLABLE ")
    return name.lower() if kind == "ETHIOPIC" and " " not in name else character


def words(text: str) -> list[str]:
    """Returns the words of a text, in lower case and without numbers."""
    return _LETTERS.findall(unicodedata.normalize("NFC", text).casefold())
