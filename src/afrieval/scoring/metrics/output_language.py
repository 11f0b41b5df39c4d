"""The share of answers in the language that they should be in."""

from afrieval.scoring.base import Metric, Question, Response
from afrieval.scoring.identify import CODES, RELIABLE, identified


def output_language() -> Metric:
    """Returns the share of answers that py3langid identifies as the expected language, from 0 to 1.

    It applies only to languages that the library knows well: of 1,012 sentences of FLORES-200's devtest
    it identifies at least 93 in 100 of each. It errs more in short texts. An empty answer is in no language.
    """
    return Metric("output_language", _measure, applies=_applies, missing=_missing)


def _applies(response: Response, question: Question) -> bool:
    return question.language in RELIABLE and not response.likelihoods


def _measure(response: Response, question: Question) -> list[float] | None:
    if not _applies(response, question):
        return None
    text = str(response.answer or "")
    return [float(bool(text) and identified(text) == CODES[question.language])]


def _missing(language: str) -> str:
    return "py3langid does not know the language well" if language and language not in RELIABLE else ""
