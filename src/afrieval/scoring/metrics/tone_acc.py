"""The share of words whose marks above letters are right, such as tone marks of Yoruba."""

from afrieval.scoring.base import Metric
from afrieval.scoring.restored import ABOVE, marked_words, of_words

# Of the languages that restoration tasks have, those with such marks on less than 1 % of the words of FLORES-200.
WITHOUT = ("ibo", "kab")


def tone_acc() -> Metric:
    """Returns `word_acc` of the words with marks above letters, from 0 to 1.

    Words without such marks do not count, in the right answer or the given one, so that a text from
    which all marks were removed scores 0. Marks below letters are removed (only Unicode's combining
    class 230 remains), so that in Yoruba a missing dot below does not hide whether the tone is right.
    Other marks above letters, such as the tilde of Ewe, count as well.

    It does not apply to languages that hardly write such marks.
    """
    return of_words("tone_acc", lambda text: marked_words(text, ABOVE), _missing)


def _missing(language: str) -> str:
    return "hardly any word has a mark above a letter" if language in WITHOUT else ""
