"""The share of words whose marks below letters are right, such as the dots of Yoruba and Igbo."""

from afrieval.scoring.base import Metric
from afrieval.scoring.restored import BELOW, marked_words, of_words


def dot_acc() -> Metric:
    """Returns `word_acc` of the words with marks below letters, from 0 to 1.

    Words without such marks do not count, in the right answer or the given one. Marks above letters
    are removed (only Unicode's combining classes 220 and 202 remain), so that in Yoruba a wrong tone
    mark does not hide whether the dot below is right.
    """
    return of_words("dot_acc", lambda text: marked_words(text, BELOW))
