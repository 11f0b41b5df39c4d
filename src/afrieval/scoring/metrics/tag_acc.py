"""Accuracy of tags, such as parts of speech: a missing tag is wrong, and so is one too many."""

from afrieval.scoring.base import Metric, Question, Response, ratio
from afrieval.scoring.subsequence import n_common


def tag_acc() -> Metric:
    """Returns the share of tokens with the right tag, over all documents, from 0 to 1.

    Sum of right / sum of max(tokens of the sentence, tokens of the answer). Right is the longest
    common subsequence of both lists of tokens with tags, so one token too many or too few does not
    make all later ones wrong. A whole answer without changes to its tokens has ordinary accuracy.
    """
    return Metric("tag_acc", _measure, ratio, interval="bootstrap")


def _measure(response: Response, question: Question) -> list[float] | None:
    if not isinstance(question.gold, list) or not all(isinstance(pair, list) for pair in question.gold):
        return None
    gold, given = [*map(tuple, question.gold)], [*map(tuple, response.answer or [])]
    return [float(n_common(gold, given)), float(max(len(gold), len(given)))]
