"""Restored diacritics: which words count, and what an answer without any scores."""

import unicodedata

import numpy as np
import pytest

from afrieval.scoring.base import Question, Response
from afrieval.scoring.metrics import metric
from afrieval.scoring.tagging import without_marks

GOLD = "Ọjọ́ náà dára, ó sì tutù bí omi"  # eight words: seven with tone marks, one of them with dots too


def score(name: str, given: str | None, gold: str = GOLD, language: str = "yor") -> float:
    known = metric(name)
    assert not known.missing(language)
    measured = known.measure(Response(given), Question(gold, language=language))
    assert measured is not None
    return float(known.score(np.array([measured]), np.ones((1, 1)))[0])


@pytest.mark.parametrize(
    ("text", "bare"),
    [
        ("Ọjọ́ náà dára", "Ojo naa dara"),
        ("ɛ́ ɔ̀ ŋ ɖ ƙ ɓ ɗ Ɛ̌", "ɛ ɔ ŋ ɖ ƙ ɓ ɗ Ɛ"),
        ("ẹ ṣ ñ ë ç ǧ ṅ", "e s n e c g n"),
        ("l'eau, 3 km – ok", "l'eau, 3 km – ok"),
        ("ọ̀", "o"),
    ],
)
def test_marks_are_removed_and_letters_stay(text: str, bare: str) -> None:
    assert without_marks(text) == bare == without_marks(unicodedata.normalize("NFD", text))


@pytest.mark.parametrize("name", ["word_acc", "tone_acc", "dot_acc"])
def test_the_right_answer_scores_1_and_none_0(name: str) -> None:
    assert score(name, GOLD) == score(name, unicodedata.normalize("NFD", GOLD)) == 1
    assert score(name, None) == score(name, "") == 0


def test_the_input_itself_scores_0_but_for_words_without_marks() -> None:
    bare = without_marks(GOLD)
    assert [score(name, bare) for name in ("tone_acc", "dot_acc")] == [0, 0]
    assert score("word_acc", bare) == 1 / 8


def test_tone_and_dots_are_separate() -> None:
    no_dots, no_tones = GOLD.replace("Ọjọ́", "Ojó"), "Ọjọ naa dara, o si tutu bi omi"
    assert (score("tone_acc", no_dots), score("dot_acc", no_dots)) == (1, 0)
    assert (score("tone_acc", no_tones), score("dot_acc", no_tones)) == (0, 1)
    assert score("word_acc", no_dots) == 7 / 8


def test_marks_too_many_are_wrong() -> None:
    assert score("tone_acc", GOLD.replace("omi", "òmí")) == 7 / 8
    assert score("dot_acc", GOLD.replace("omi", "ọmi")) == 1 / 2
    assert score("tone_acc", "á", "omi") == 0 and score("tone_acc", "omi", "omi") == 1


def test_languages_without_such_marks() -> None:
    assert metric("dot_acc").missing("fon") and not metric("dot_acc").missing("ibo")
    assert metric("tone_acc").missing("ibo") and not metric("tone_acc").missing("fon")
