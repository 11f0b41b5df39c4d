"""Shares of answers: empty, refused, unparsed, copied, in the wanted language, and following instructions."""

import unicodedata
from collections.abc import Callable
from dataclasses import replace
from math import inf
from typing import Literal

from afrieval.scoring.base import CHOICE, Metric, Question, Response
from afrieval.scoring.identified_language import CODES, RELIABLE, identified
from afrieval.scoring.ifeval.instructions import inst_level, prompt_level
from afrieval.scoring.labels import CUT
from afrieval.scoring.texts import words


def answered() -> Metric:
    """Returns the share of answers with content, from 0 to 1, which says nothing of how good they are."""
    return replace(_of_texts("answered", lambda response: bool(_text(response))), higher_is_better=True, ranked=False)


def length() -> Metric:
    """Returns the mean number of characters of answers in NFC, blanks included; longer ones are not better."""

    def measure(response: Response, question: Question) -> list[float] | None:
        return None if response.likelihoods else [float(len(_text(response)))]

    return Metric("length", measure, bounds=(0.0, inf), interval="bootstrap", responses="generated", ranked=False)


def _text(response: Response) -> str:
    return unicodedata.normalize("NFC", str(response.answer or "")).strip()


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
        answer = words(str(response.answer or ""))
        return [float(bool(answer) and "".join(answer) == "".join(words(question.fields[name])))]

    return Metric("copied", measure, higher_is_better=False, responses="generated", field=field)


def cut() -> Metric:
    """Returns the share of answers that ended at their limit of tokens, from 0 to 1; they are scored as they are."""
    return _of_texts(CUT, lambda response: response.cut)


def empty() -> Metric:
    """Returns the share of answers without content, from 0 to 1."""
    return _of_texts("empty", lambda response: response.answer in (None, ""))


def _of_texts(name: str, holds: Callable[[Response], bool]) -> Metric:

    def measure(response: Response, question: Question) -> list[float] | None:
        return None if response.likelihoods else [float(holds(response))]

    return Metric(name, measure, higher_is_better=False, responses="generated")


def guessed() -> Metric:
    """Returns the share of answers that the model did not announce and the extractor guessed."""
    return _of_texts("guessed", lambda response: bool(response.guessed))


def refused() -> Metric:
    """Returns the share of refused answers, for models behind a server that marks them."""

    def measure(response: Response, question: Question) -> list[float] | None:
        return None if response.refused is None else [float(response.refused)]

    return Metric("refused", measure, higher_is_better=False, applies_to=frozenset())  # the server tells


def unparsed(likelihoods: bool = False) -> Metric:
    """Returns the share of answers in which the extractor found nothing.

    Args:
        likelihoods: whether to measure answers by likelihood instead of generated ones: the share of questions
            none of whose choices is among the tokens that a server returns.
    """

    def measure(response: Response, question: Question) -> list[float] | None:
        if bool(response.likelihoods) != likelihoods:
            return None
        return [float(response.answer is None and not response.refused)]

    responses: Literal["likelihoods", "generated"] = "likelihoods" if likelihoods else "generated"
    forms = frozenset({CHOICE}) if likelihoods else None
    return Metric("unparsed", measure, higher_is_better=False, applies_to=forms, responses=responses)


def output_language() -> Metric:
    """Returns the share of answers that py3langid identifies as the expected language, from 0 to 1.

    It applies only to languages that the library knows well: of 1,012 sentences of FLORES-200's devtest
    it identifies at least 93 in 100 of each. It errs more in short texts. An empty answer is in no language.
    """

    def measure(response: Response, question: Question) -> list[float] | None:
        if question.language not in RELIABLE or response.likelihoods:
            return None
        text = str(response.answer or "")
        return [float(bool(text) and identified(text) == CODES[question.language])]

    def missing(language: str) -> str:
        return "py3langid does not know the language well" if language and language not in RELIABLE else ""

    return Metric("output_language", measure, responses="generated", missing=missing)


def inst_level_loose_acc() -> Metric:
    """Returns the accuracy that the harness calls by this name."""
    return inst_level("inst_level_loose_acc", "loose")


def inst_level_strict_acc() -> Metric:
    """Returns the accuracy that the harness calls by this name."""
    return inst_level("inst_level_strict_acc", "strict")


def prompt_level_loose_acc() -> Metric:
    """Returns the accuracy that the harness calls by this name."""
    return prompt_level("prompt_level_loose_acc", "loose")


def prompt_level_strict_acc() -> Metric:
    """Returns the accuracy that the harness calls by this name."""
    return prompt_level("prompt_level_strict_acc", "strict")
