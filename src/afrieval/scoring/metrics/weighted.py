"""Whether an answer has one of several right ones, which may differ in weight."""

from afrieval.scoring.base import Metric, Question, Response
from afrieval.scoring.texts import words


def any_match() -> Metric:
    """Returns the share of answers that contain one of the right answers, from 0 to 1.

    An answer contains a right one if it has all words of it, in any order; words are as in `rouge_1`. As BLEnD's SEM-B
    (Myung et al. 2024), but without its lemmatisers, which few African languages have, and without its parts of words:
    "steak" does not contain "tea".
    """

    def measure(response: Response, question: Question) -> list[float] | None:
        found = _weight(response, question)
        return None if found is None else [float(found > 0)]

    return Metric("any_match", measure)


def weighted_match() -> Metric:
    """Returns the mean weight of the heaviest right answer that an answer contains, from 0 to 1, as BLEnD's SEM-W.

    The weight is a share of the heaviest right answer's, so that the answer that most people give scores 1; `any_match`
    says what an answer contains.
    """

    def measure(response: Response, question: Question) -> list[float] | None:
        found = _weight(response, question)
        return None if found is None else [found]

    return Metric("weighted_match", measure, interval="bootstrap")


def _weight(response: Response, question: Question) -> float | None:
    """Returns the weight of the heaviest right answer that a response contains, or 0; None if none has a weight."""
    gold = question.gold
    if not (isinstance(gold, dict) and gold and all(isinstance(weight, float) for weight in gold.values())):
        return None
    text = str(response.answer or "")
    given = set(words(text))
    return max((w for right, w in gold.items() if set(words(right) or [right]) <= given or right == text), default=0.0)
