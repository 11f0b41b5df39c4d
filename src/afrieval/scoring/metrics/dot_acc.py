"""The share of words whose marks below letters are right, such as the dots of Yoruba and Igbo."""

from afrieval.scoring.base import Metric
from afrieval.scoring.restored import BELOW, of_words, with_marks


def dot_acc() -> Metric:
    """Returns `word_acc` of texts without marks above letters, from 0 to 1.

    Only combining marks below letters remain (Unicode's combining classes 220 and 202), so that in
    Yoruba a wrong tone mark does not hide whether the dot below is right.
    """
    return of_words("dot_acc", lambda text: with_marks(text, BELOW))
