"""Answers are read strictly: what names a choice is read, what does not is said to be unread."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from afrieval.scoring.base import ExtractionContext, Question
from afrieval.scoring.extract.choice import choice, read_choice

LETTERS = ["A", "B", "C", "D"]
LABELS = {
    "eng": ["True", "Unknown", "False"],
    "yor": ["Òótọ́", "A kò mọ̀", "Irọ́"],
    "amh": ["እውነት", "አይታወቅም", "ሐሰት"],
    "hau": ["Gaskiya", "Ba a sani ba", "Ƙarya"],
}


READ = ["B", " B ", "B\n", "B.", "B. p = 8", "B: p = 8", "(B)", "(B) p = 8", "**B**", "**B.** p = 8", "`B`", '"B"']
READ += ["B\n\nA", "\n\n B) because", "[B]", "B, for sure", "B።"]


@pytest.mark.parametrize("text", READ)
def test_a_letter_that_is_read(text: str) -> None:
    assert read_choice(text, LETTERS) == 1


@pytest.mark.parametrize(
    "text",
    [
        "", " \n", "b", "Bantu", "p = 8", "The answer is B", "E", "AB", "Between A and B", "1", "...", "BB. no", "Ƀ",
        "B p", "A man",
    ],
)  # fmt: skip
def test_a_letter_that_is_not_read(text: str) -> None:
    assert read_choice(text, LETTERS) is None


@pytest.mark.parametrize("text", ["A, B, C, or D", "(A), (B)", "**B**, **C**", "A/B", "A or B"])
def test_a_list_of_letters_names_none(text: str) -> None:
    assert read_choice(text, LETTERS) is None


@pytest.mark.parametrize("language", LABELS)
def test_a_list_of_labels_names_none(language: str) -> None:
    first, second, third = LABELS[language]
    for text in (
        f"{first}, {second}, {third}",
        f"{second} ko {first}",
        f"**{third}** / **{first}**",
        f"{first}, {third}",
    ):
        assert read_choice(text, LABELS[language]) is None, text
    for text in (f"{first}, ko {second}", f"{first}. {second}", f"{first}\n{second}", f"{first}, {second}x"):
        assert read_choice(text, LABELS[language]) == 0, text


def test_words_after_a_letter_are_no_list() -> None:
    assert [read_choice(text, LETTERS) for text in ("B. vitamin C", "B, A man", "B: A. Smith")] == [1, 1, 1]


@pytest.mark.parametrize("language", LABELS)
def test_label_words_in_their_language(language: str) -> None:
    for index, word in enumerate(LABELS[language]):
        for text in (word, f" {word}.", word.upper(), word.lower(), f"**{word}**\nbecause", f"{word}, {word}"):
            assert read_choice(text, LABELS[language]) == index, text
        assert read_choice(word + "x", LABELS[language]) is None
        assert read_choice(f"x {word}", LABELS[language]) is None


def test_another_normal_form_is_the_same_word() -> None:
    import unicodedata

    assert read_choice(unicodedata.normalize("NFD", "Òótọ́"), LABELS["yor"]) == 0
    assert read_choice("Ooto", LABELS["yor"]) is None


@given(st.text())
def test_any_text_is_read_as_one_choice_or_none(text: str) -> None:
    for names in (LETTERS, *LABELS.values()):
        read = read_choice(text, names)
        assert read is None or names[read].casefold() in text.casefold() or not text.isascii()


@given(
    st.sampled_from(LETTERS),
    st.sampled_from(["", " ", "(", "**", '"', "\n\n"]),
    st.sampled_from(["", ".", ")", ":", "\n"]),
)
def test_marks_around_a_letter_change_nothing(letter: str, before: str, after: str) -> None:
    assert read_choice(f"{before}{letter}{after}", LETTERS) == LETTERS.index(letter)


def test_the_extractor_gives_an_index() -> None:
    question = Question(1, ["cat", "dog"], ["A", "B"])
    assert [choice()(text, question, ExtractionContext()) for text in ("B. dog", "A", "both")] == [1, 0, None]
