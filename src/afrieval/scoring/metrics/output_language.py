"""The share of answers in the language that they should be in."""

from afrieval.scoring.base import Metric, Question, Response
from afrieval.scoring.identify import CODES, identified


def output_language() -> Metric:
    """Returns the share of answers that py3langid identifies as the expected language, from 0 to 1.

    It applies only to languages that the library knows. It errs in short texts and among related
    languages, so compare the share with that of the right answers. An empty answer is in no language.
    """
    return Metric("output_language", _measure, missing=_missing)


def _measure(response: Response, question: Question) -> list[float] | None:
    if question.language not in CODES or response.likelihoods:
        return None
    text = str(response.answer or "")
    return [float(bool(text) and identified(text) == CODES[question.language])]


def _missing(language: str) -> str:
    return "py3langid does not know the language" if language and language not in CODES else ""
