"""Texts without diacritics, and words of a text whose diacritics were restored, compared with the original."""

import unicodedata
from collections.abc import Callable

from afrieval.scoring.base import Metric, Question, Response, ratio
from afrieval.scoring.subsequence import n_common

ABOVE = frozenset({230})  # Unicode's combining classes
BELOW = frozenset({202, 220})  # attached to the letter, such as a cedilla, or not


def without_marks(text: str) -> str:
    """Returns a text without tone marks, dots below and the like, in NFC.

    All marks that Unicode separates from their letter are removed (NFD, then category Mn): ọ́ becomes o. Letters such
    as ɛ, ɔ, ŋ, ɖ and ƙ are not marked letters in Unicode, and stay.
    """
    return unicodedata.normalize(
        "NFC", "".join(c for c in unicodedata.normalize("NFD", text) if unicodedata.category(c) != "Mn")
    )


def marked_words(text: str, seen: frozenset[int]) -> list[str]:
    """Returns the words with marks of some combining classes, without marks of the other ones above or below."""
    hidden = (ABOVE | BELOW) - seen
    bare = "".join(c for c in unicodedata.normalize("NFD", text) if unicodedata.combining(c) not in hidden)
    return [unicodedata.normalize("NFC", w) for w in bare.split() if seen.intersection(map(unicodedata.combining, w))]


def of_words(name: str, words: Callable[[str], list[str]]) -> Metric:
    """Returns the share of words that are right, of which only some may count.

    Args:
        name: of the metric.
        words: a text to the words that count. A document whose right answer has none is not measured.
    """

    def measure(response: Response, question: Question) -> list[float] | None:
        if not isinstance(question.gold, str) or not (gold := words(question.gold)):
            return None
        given = words(str(response.answer or ""))
        return [float(n_common(gold, given)), float(max(len(gold), len(given)))]

    return Metric(name, measure, ratio, interval="bootstrap")
