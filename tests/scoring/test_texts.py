"""Short answers are the same whatever marks stand around them, but signs and brackets that mean something count."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from afrieval.scoring.texts import same_text, visible, words, words_without_punctuation

SAME = [
    ("(A)", "A"), ("A.", "A"), ("አዲስ አበባ።", "አዲስ አበባ"), ("(a).", "A"), ("A)", "(A)"), ("[A]", "(A)"),
    ("**(A)**.", "(A)"), ("**(A).**", "(A)"), ("“No.”", "no"), ("'No'", "no"), ("*No*", "`no`"), ("Yes", "yes"),
    ("  two   words\n", "Two words"), ("oven, phone, costume", "oven phone costume"), ("[oven,phone]", "oven phone"),
    ("Monsters, Inc.", "Monsters, Inc"), ("1,234", "1234"), ("-1,234,567.5", "-1234567.5"), ("−5", "-5"),
    ("] )", "])"), ("don’t", "don't"), ("ngʼombe", "ng'ombe"), ("Òótọ́", unicodedata.normalize("NFD", "òÓTỌ́")),
    ("STRASSE", "straße"),
    ("α\u0345\u0301", "ᾴ"),  # one letter in two orders of its marks
    ("", " "), ("Kano\u200e", "\u200fKano"), ("\u2067ọjà\u2069.", "o\u200d\u0323j\u00ada\u0300"), ("\ufeffA", "(A)"),
]  # fmt: skip

DIFFERENT = [
    ("] )", "} >"), ("] )", ") ]"), ("] )", "]"), ("]", ""), ("]", "A"), ("-5", "5"), ("+5", "-5"), ("3.5", "35"),
    (".5", "5"), ("1,23", "123"), ("1, 2", "12"), ("1 2", "12"), ("12,34", "1234"), ("1,2345", "12345"),
    ("1234,567", "1234567"), ("(A)", "(B)"), ("A", ""), ("> 5", "< 5"), ("5%", "5"), ("valid", "invalid"),
    ("yes", "no"), ("oven phone", "phone oven"), ("oven phone", "ovenphone"), ("-", "+"), ("5'", '5"'),
    ("dont", "don't"), ("ọ", "o"),
]  # fmt: skip


@pytest.mark.parametrize(("one", "other"), SAME)
def test_the_same(one: str, other: str) -> None:
    assert same_text(one, other) and same_text(other, one)


@pytest.mark.parametrize(("one", "other"), DIFFERENT)
def test_different(one: str, other: str) -> None:
    assert not same_text(one, other) and not same_text(other, one)


@given(
    st.text(st.sampled_from("aọ\u0300 .")),
    st.text(st.sampled_from("\u00ad\u200b\u200d\u200f\u202a\u2066\ufe0f\ufeff"), min_size=1),
)
def test_invisible_characters_make_no_other_answer(text: str, marks: str) -> None:
    marked = marks.join([*text, ""]) + marks
    assert visible(marked) == visible(text) and same_text(marked, text)
    assert words(marked) == words(text) and words_without_punctuation(marked) == words_without_punctuation(text)


ANSWERS = st.text() | st.text(st.sampled_from("aA15-.,()[]*'\" \u0301"))


@given(ANSWERS, ANSWERS)
def test_every_answer_is_itself_and_which_is_which_makes_no_difference(one: str, other: str) -> None:
    assert same_text(one, one) and same_text(one, f" {one}\n") and same_text(one, one.casefold())
    assert same_text(one, unicodedata.normalize("NFD", one))
    assert same_text(one, other) == same_text(other, one)


MARKS = st.text(st.sampled_from("()[]{}<>-+*.,'\""))


@given(MARKS, MARKS)
def test_marks_alone_are_compared_as_they_are(one: str, other: str) -> None:
    assert same_text(" ".join(one), other) == (one == other)


@given(st.integers(), st.integers())
def test_numbers_are_the_same_only_if_they_are_equal(one: int, other: int) -> None:
    assert same_text(f"{one:,}", str(one)) and same_text(f"**{one:,}.**", str(one))
    assert same_text(f"{one:,}", str(other)) == (one == other)
    assert not same_text(f"{one}.5", f"{one}5") and not same_text(str(one + (one == 0)), str(-one - (one == 0)))
