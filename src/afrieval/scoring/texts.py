"""Texts and words in any script, and whether an answer is the right text."""

import re
import unicodedata
from collections.abc import Hashable, Sequence
from functools import cache
from typing import Any

# Soft hyphen, joiners, zero-width blanks, marks of direction, byte order mark, variation selectors.
_INVISIBLE = re.compile(
    r"[\u00ad\u034f\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff\ufff9-\ufffb]"
)
_APOSTROPHES = str.maketrans("ʼʻ", "''")  # letters in Unicode; texts have them next to apostrophes in the same words
_WORDSPACE = "\u1361"  # of Ethiopic: punctuation that stands between words, where others have a blank


def visible(text: str) -> str:
    """Returns a text in NFC without invisible characters, which never make it another answer, label or choice."""
    return unicodedata.normalize("NFC", text if text.isascii() else _INVISIBLE.sub("", text))


def words(text: str) -> list[str]:
    """Returns the runs of letters, combining marks and digits; everything else separates them."""
    return "".join(c if _category(c) in "LMN" else " " for c in folded(text)).split()


def words_without_punctuation(text: str) -> list[str]:
    """Returns what blanks separate, without punctuation and symbols, as in SQuAD: "ng'ombe" is one word."""
    spaced = folded(text).replace(_WORDSPACE, " ")
    return "".join(c for c in spaced if _category(c) not in "PS").split()


def folded(text: str) -> str:
    """Returns a text in NFC, caseless, with the digits of every script as ASCII digits, and ʼ as an apostrophe."""
    caseless = unicodedata.normalize("NFC", unicodedata.normalize("NFD", visible(text)).casefold())
    if caseless.isascii():
        return caseless
    return "".join(str(unicodedata.decimal(c, c)) for c in caseless.translate(_APOSTROPHES))


@cache
def _category(character: str) -> str:
    """Returns the first letter of a character's category in Unicode: L, M, N, P, S, Z or C."""
    return unicodedata.category(character)[0]


def without_marks(text: str) -> str:
    """Returns a text without tone marks, dots below and the like, in NFC.

    All marks that Unicode separates from their letter are removed (NFD, then category Mn): ọ́ becomes o. Letters such
    as ɛ, ɔ, ŋ, ɖ and ƙ are not marked letters in Unicode, and stay.
    """
    return unicodedata.normalize(
        "NFC", "".join(c for c in unicodedata.normalize("NFD", text) if unicodedata.category(c) != "Mn")
    )


def references(gold: Any) -> list[str]:
    """Returns the right answers; empty if they are not texts."""
    texts = [gold] if isinstance(gold, str) else gold
    return texts if isinstance(texts, list) and all(isinstance(text, str) for text in texts) else []


LIKE = str.maketrans("‘’ʼʻ“”−", "''''\"\"-")
_THOUSANDS = re.compile(r"(?<![\w.,])(\d{1,3}(?:,\d{3})+)(?!,?\d)")
_COMMA = re.compile(r"[,،፣]")
_PAIRS = ("()", "[]", "{}", '""', "''", "«»", "``", "**")
_LABEL = re.compile(r"[(\[{]?(\w+)[)\]}]?")  # "B)" as models write it


def same_text(answer: str, gold: str) -> bool:
    """Returns whether two answers are the same. Which is which makes no difference.

    Upper and lower case, invisible characters, runs of blanks, quotes, brackets and asterisks around an answer, a full
    stop at its end, thousands commas and commas between words are passed over: "(A)." is "a", and "1,234" is "1234".
    Signs and decimal points are not: "-5" is not "5". Of answers without a letter or digit only blanks are passed over:
    "] )" is not "} >". Mathematics has `same_answer`, for which (0, 1) is not [0, 1].
    """
    return answer_key(answer) == answer_key(gold)


def answer_key(text: str) -> str:
    """Returns what an answer is compared by; caseless in the canonical sense of Unicode (definition D145)."""
    plain = unicodedata.normalize("NFC", unicodedata.normalize("NFD", visible(text)).casefold()).translate(LIKE)
    if not any(c.isalnum() for c in plain):
        return "".join(plain.split())
    while (plain := plain.strip().rstrip(".,።").rstrip())[:1] + plain[-1:] in _PAIRS:
        plain = plain[1:-1]
    plain = label[1] if (label := _LABEL.fullmatch(plain)) else plain
    plain = _THOUSANDS.sub(lambda number: number[1].replace(",", ""), plain)
    return " ".join(_COMMA.sub(" ", plain).split())


def n_common(a: Sequence[Hashable], b: Sequence[Hashable]) -> int:
    """Returns the length of the longest common subsequence of two lists.

    Each bit of a number is a place in `a`, so that one addition treats all of them at once: the
    algorithm of Hyyrö 2004, "Bit-parallel LCS-length computation revisited".
    """
    bits: dict[Hashable, int] = {}
    for position, entry in enumerate(a):
        bits[entry] = bits.get(entry, 0) | 1 << position
    all_bits = rest = (1 << len(a)) - 1
    for entry in b:
        matched = rest & bits.get(entry, 0)
        rest = (rest + matched | rest - matched) & all_bits
    return len(a) - rest.bit_count()
