"""The share of words whose marks above letters are right, such as tone marks of Yoruba."""

from afrieval.scoring.base import Metric
from afrieval.scoring.restored import ABOVE, of_words, with_marks


def tone_acc() -> Metric:
    """Returns `word_acc` of texts without marks below letters, from 0 to 1.

    Only combining marks above letters remain (Unicode's combining class 230), so that in Yoruba a
    missing dot below does not hide whether the tone is right. Other marks above letters, such as the
    tilde of Ewe, count as well.
    """
    return of_words("tone_acc", lambda text: with_marks(text, ABOVE))
