"""The share of answers that repeat the text that was to be translated."""

from afrieval.scoring.base import Metric, Question, Response
from afrieval.scoring.words import words


def copied(field: str = "") -> Metric:
    """Returns the share of answers equal to a field of the question, from 0 to 1.

    Compared are letters, marks and digits, caseless and in NFC. An empty answer is not a copy.

    Args:
        field: name of the field; the first one if empty.
    """

    def measure(response: Response, question: Question) -> list[float] | None:
        name = field or next(iter(question.fields), "")
        if name not in question.fields or response.likelihoods:
            return None
        given = words(str(response.answer or ""))
        return [float(bool(given) and "".join(given) == "".join(words(question.fields[name])))]

    return Metric("copied", measure, higher_is_better=False)
