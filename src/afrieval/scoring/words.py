"""Words of texts in any script, as scores of texts compare them."""

import unicodedata
from functools import cache

_APOSTROPHES = str.maketrans("ʼʻ", "''")  # letters in Unicode; texts have them next to apostrophes in the same words
_WORDSPACE = "\u1361"  # of Ethiopic: punctuation that stands between words, where others have a blank


def words(text: str) -> list[str]:
    """Returns the runs of letters, combining marks and digits; everything else separates them."""
    return "".join(map(_letter_or_blank, folded(text))).split()


def words_without_punctuation(text: str) -> list[str]:
    """Returns what blanks separate, without punctuation and symbols, as in SQuAD: "ng'ombe" is one word."""
    return "".join(map(_not_punctuation, folded(text))).split()


def folded(text: str) -> str:
    """Returns a text in NFC, caseless, with the digits of every script as ASCII digits, and ʼ as an apostrophe."""
    caseless = unicodedata.normalize("NFC", unicodedata.normalize("NFD", text).casefold())
    return caseless if caseless.isascii() else "".join(map(_digit, caseless.translate(_APOSTROPHES)))


@cache
def _digit(character: str) -> str:
    return str(unicodedata.decimal(character, character))


@cache
def _letter_or_blank(character: str) -> str:
    kind = unicodedata.category(character)
    return character if kind[0] in "LMN" else "" if kind == "Cf" else " "


@cache
def _not_punctuation(character: str) -> str:
    if character == _WORDSPACE:
        return " "
    kind = unicodedata.category(character)
    return "" if kind[0] in "PS" or kind == "Cf" else character
