"""The share of words whose marks below letters are right, such as the dots of Yoruba and Igbo."""

from afrieval.scoring.base import Metric
from afrieval.scoring.restored import BELOW, marked_words, of_words

# Languages in Latin script with such marks on 1 % or more of the words of FLORES-200.
WITH = ("ibo", "kab", "nus", "por", "taq", "yor")


def dot_acc() -> Metric:
    """Returns `word_acc` of the words with marks below letters, from 0 to 1.

    Words without such marks do not count, in the right answer or the given one. Marks above letters
    are removed (only Unicode's combining classes 220 and 202 remain), so that in Yoruba a wrong tone
    mark does not hide whether the dot below is right.

    It applies only to languages that are known to write such marks.
    """
    return of_words("dot_acc", lambda text: marked_words(text, BELOW), _missing)


def _missing(language: str) -> str:
    return "hardly any word has a mark below a letter" if language and language not in WITH else ""
