"""Words of a text whose diacritics were restored, compared with the original."""

import unicodedata
from collections.abc import Callable

from afrieval.scoring.base import Metric, Question, Response, ratio
from afrieval.scoring.subsequence import n_common

ABOVE = frozenset({230})
BELOW = frozenset({202, 220})  # attached to the letter, such as a cedilla, or not


def with_marks(text: str, kept: frozenset[int]) -> str:
    """Returns a text in which only marks of some combining classes remain, of those above and below letters."""
    removed = (ABOVE | BELOW) - kept
    return "".join(c for c in unicodedata.normalize("NFD", text) if unicodedata.combining(c) not in removed)


def of_words(name: str, seen: Callable[[str], str]) -> Metric:
    """Returns the share of right words, in texts of which only a part may count.

    Args:
        name: of the metric.
        seen: a text to what counts of it.
    """

    def measure(response: Response, question: Question) -> list[float] | None:
        if not isinstance(question.gold, str):
            return None
        gold, given = (
            unicodedata.normalize("NFC", seen(text)).split() for text in (question.gold, str(response.answer or ""))
        )
        return [float(n_common(gold, given)), float(max(len(gold), len(given)))]

    return Metric(name, measure, ratio, interval="bootstrap")
