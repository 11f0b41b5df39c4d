"""The share of words that are exactly right, as for text whose diacritics were restored."""

import unicodedata

from afrieval.scoring.base import Metric
from afrieval.scoring.restored import of_words


def word_acc() -> Metric:
    """Returns the share of words that are exactly right, over all documents, from 0 to 1.

    Sum of right / sum of max(words of the right answer, words of the answer). Right is the longest
    common subsequence of both lists of words, so one word too many or too few does not make all
    later ones wrong. Words are what blanks separate, in NFC.
    """
    return of_words("word_acc", lambda text: unicodedata.normalize("NFC", text).split())
