"""What a person would read as a choice is read, and what is ambiguous is not; published prompts are read strictly."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from afrieval.scoring.base import ExtractionContext, Question
from afrieval.scoring.extract.choice import choice, named_choice
from afrieval.scoring.extract.phrase import read_choice

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
    assert [choice()(text, question, ExtractionContext()) for text in ("B. dog", "A", "both", "dog")] == [1, 0, None, 1]
    for extract, asked in ((choice(strict=True), ExtractionContext()), (choice(), ExtractionContext(published=True))):
        assert [extract(text, question, asked) for text in ("B. dog", "b", "dog", "Answer: B")] == [1, None, None, None]


TEXTS = ["p = 4", "p = 8", "p = 12", "p = 24"]
LEAD_INS = ["Amsa:", "The right option is:", "Amsar ita ce", "መልሱ {answer} ነው", "Eky'okuddamu kiri"]
NAMED = [
    "The answer is C", "Answer: C", "Option C", "c", "(c)", r"\boxed{C}", '{"answer": "C"}', "Amsa: C", "p = 12",
    "C: p = 12", "**Answer:** C", "The correct option is (C)", "Answer: **C**", "\u200fC", "C\tRuwa", "C\t",
    "Amsar ita ce C.", "መልሱ C ነው።", "Eky’okuddamu kiri C", "The right option is: C", "AMSA (A, B, C ko D): C",
    "The answer is p = 12.", "The answer is C) p = 12", "C p = 12", "c) p = 12", "C - p = 12", "P = 12.", "**p = 12**",
    "The answer to the question is C", "the answer is c", "answer: c", "The answer is 'c'", "Answer = C", "Answer C",
    "```json\n{\"answer\": \"C\"}\n```", '{"reasoning": "A is wrong", "answer": "c"}', "{'answer': 'C'}",
    "<answer>C</answer>", "I would go with C.", "C is the correct answer.", '"C" is right.', "\u202bC\u202c",
    "C\u00ad.", "The answer is definitely C", "My answer: C", "It's C.", "> C", "- C",
    '{"correct_option": "C"}', "It should be C.", "Correct answer: C", "Ans: C", "answer:C",
    "Let me think.\n\nC", "Let me think.\n\n(c)", "The answer is C, not B.", "The answer is A. No, the answer is C.",
    "A. p = 4 is too small.\nThe answer is C.", "A\n\nWait, the answer is C.", "Since it is not A, the answer is C.",
    "Option A says 4. Option B says 8. The answer is C.", "Consider each choice:\n(A) is small. The answer is (C).",
    "A: p = 4\nB: p = 8\nC: p = 12\nD: p = 24\n\nAnswer: C", "A: p = 4\nB: p = 8\nC: p = 12\nD: p = 24\n\nC",
    "The answer is 3 x 4, so the answer is C.", "If x is 2, then p is 12. The final answer is C.",
]  # fmt: skip
NOT_NAMED = [
    "", "A or C", "A and C", "(A) and (C)", "The answer is A or C", "The answer is A, B, C or D.", "Answer: A, B",
    '{"answer": ["A", "C"]}', "not C", "A is wrong", '"C" is wrong', 'the answer "C" is wrong', "Answer: C is wrong",
    "The answer is not C", "I don't think the answer is C.", "The wrong answer is C", "C is not correct",
    "It is not true that the answer is C", "If the answer is C, p is 12", "Suppose the answer is C.",
    "The answer is C?", "a good man", "A good man", "The answer is a good one", "The answer is a", "Amsa: a kasuwa",
    "a la maison", "e entao", "The answer is A. The answer is C.", "A\n\nThe answer is C.", "A and C are correct",
    "A: p = 4\nB: p = 8\nC: p = 12\nD: p = 24", "A: p = 4 B: p = 8 C: p = 12 D: p = 24", "A\nB\nC\nD", "E",
    "C'est la vie", "D’accord", "A.I. is",
    "Question: so?\nA: p = 4\nB: p = 8", "The answer is E", "It is a C major chord", "It's a", "A p = 12",
    "p = 12 or p = 8", "p = 120", "The answer is p = 4 or so", r"\boxed{A, C}",
]  # fmt: skip


@pytest.mark.parametrize("text", NAMED)
def test_what_a_person_reads_as_a_choice(text: str) -> None:
    assert named_choice(text, LETTERS, TEXTS, LEAD_INS) == 2


@pytest.mark.parametrize("text", NOT_NAMED)
def test_what_names_no_choice_or_several(text: str) -> None:
    assert named_choice(text, LETTERS, TEXTS, LEAD_INS) is None


@pytest.mark.parametrize("language", LABELS)
def test_label_words_that_are_announced(language: str) -> None:
    words = LABELS[language]
    for text in (
        "The answer is {}.",
        "Label: {}",
        "**Answer:** {}",
        '{{"label": "{}"}}',
        "Amsa: {} (so)",
        "Why.\n\n{}",
    ):
        assert named_choice(text.format(words[2].lower()), words, words, LEAD_INS) == 2, text
    for text in ("The answer is {} or {}", "The answer is not {}", "neither {} nor {}", "{}\n{}\n{}"):
        assert named_choice(text.format(*words), words, words, LEAD_INS) is None, text


def test_a_text_may_begin_like_what_is_said_of_a_choice() -> None:
    assert (
        named_choice("D) is below the cost", LETTERS, TEXTS) == 3
        and named_choice("D) is wrong", LETTERS, TEXTS) is None
    )
    assert (
        named_choice("D) is not needed", LETTERS, TEXTS) == 3
        and named_choice("D) is not right", LETTERS, TEXTS) is None
    )


def test_texts_of_two_choices_name_none() -> None:
    assert named_choice("p = 8", LETTERS, ["p = 4", "p = 8", "P = 8", "p"]) is None
    assert named_choice("B: p = 8", LETTERS, ["p = 4", "p = 8", "P = 8", "p"]) == 1
    assert named_choice("-5", LETTERS, ["5", "\u22125"]) == 1


def test_only_the_first_line_of_a_model_that_runs_on() -> None:
    text = "B\nQuestion: 2 + 2?\nAnswer: C"
    assert named_choice(text, LETTERS, TEXTS, runs_on=True) == 1
    assert named_choice("I see.\nAnswer: C", LETTERS, TEXTS, runs_on=True) is None


def test_invisible_characters_and_other_quotes_change_nothing() -> None:
    assert named_choice("A kò mo\u0323\u200d\u0300", LABELS["yor"], LABELS["yor"]) == 1
    assert named_choice("Na'am", ["Na\u2019am", "A\u2019a"], ["Na\u2019am", "A\u2019a"]) == 0


CITIES, OF_CITIES = ["Nairobi", "Lagos", "Accra", "Abuja"], ["Jibu:", "Jibu sahihi:", "Jibu ni", "መልስ:", "Impendulo:"]
OF_CITIES += [
    "Amsar daidai:",
    "Amsar ita ce",
    "Ìdáhùn:",
    "Ìdáhùn náà ni",
    "መልሱ {answer} ነው",
    "Answer:",
    "The answer is",
]
LIST = "A. Nairobi\nB. Lagos\nC. Accra\nD. Abuja\n"
ACCRA = [
    "Accra!", "Probably C", f"{LIST}\nAccra", f"{LIST}\nC) Accra", f"{LIST}C. Accra", "Option C: Accra",
    "Option C is Accra",
    "**Option C: Accra**",
    "መልስ፦ C", "መልስ፡ C", "Jibu sahihi ni C", "Jibu ni C", "Amsar daidai ita ce C", "Ìdáhùn ni C", "Impendulo ngu-C",
    "ትክክለኛው መልስ C ነው", "C because Lagos is big", "C since it is", "C = Accra", "C → Accra", "C -> Accra",
    "C rather than A",
    "So C", "Therefore, C.", "Thus option C.", "Yes, C.", "Sure! C", "I think C", "I'd say C", "Hence (C)", "OK. C",
    "This is why the answer is C", "After eliminating wrong options the answer is C", "No doubt the answer is C",
    "The answer is Accra, the capital of Ghana.", "The answer is Accra because it is", "Accra is the correct answer",
    "Accra (C)", "Accra - C", "The answer is simply C", "The answer is indeed C", "The answer is actually C", "C\u2026",
    "The answer is the letter C", "It seems. The answer seems to be C", "The correct answer here is C", "Answer - C",
    "Answer → C", "\u2705 C", "1. C", "<b>C</b>", "\uff23", "\\boxed{\\text{Accra}}", "$Accra$",
    "The answer is not A but C",
    "C. Accra\n\nA. Nairobi is in Kenya.", "The answer is C, which is Accra", "The answer is C, not A but close",
]  # fmt: skip
NO_CITY = [
    '{"A": 0.2, "B": 0.8}', "C: 5%\nA: 95%", "C\nA", "B. Lagos\nC. Accra", "A. Nairobi is in Kenya.\nB. Lagos",
    "Options:\nA. Nairobi\n\nB. Lagos\n\nC. Accra", "C. Accra\nB. Lagos\nA. Nairobi", "Answer: B (Accra)", "(B) Accra",
    "D: Accra", "B → Accra", "Accra (B)", "Option B is Accra", "I doubt it is C", "Some say the answer is C", "C?",
    "Nobody would say that C is right", "The least likely answer is C", "The answer is C or not", "C, or not", "Accra?",
    "The first option is Nairobi", "C. No, wait, A.", "C or maybe A", "The answer is C but also A", "Nairobi, Accra",
    "The answer is Accra, so A", "The answer is Nairobi, Accra", "1. Nairobi\n2. Lagos",
    "I don't know why the answer is C", "A; C",
    '{"A": "wrong", "C": "right"}', "A (5%), C (95%)",
]  # fmt: skip


@pytest.mark.parametrize("text", ACCRA)
def test_more_ways_to_name_a_choice(text: str) -> None:
    for _ in range(2):  # what is kept of a question must not change when it is read
        assert named_choice(text, LETTERS, CITIES, OF_CITIES) == 2


@pytest.mark.parametrize("text", NO_CITY)
def test_lists_contradictions_and_what_is_asked_name_none(text: str) -> None:
    assert named_choice(text, LETTERS, CITIES, OF_CITIES) is None


NLI, MOODS, AMHARIC = ["True", "Neither", "False"], ["Negative", "Neutral", "Positive"], ["አሉታዊ", "ገለልተኛ", "አዎንታዊ"]


@pytest.mark.parametrize(
    ("labels", "text", "index"),
    [
        (MOODS, '{"negative": 0.1, "positive": 0.9}', None), (MOODS, "Positive\nNegative\nNeutral", None),
        (MOODS, "Positive, but also negative", None), (MOODS, "Negative. No, positive.", None),
        (MOODS, "not positive", None), (MOODS, "Neutral, perhaps positive", None), (MOODS, "Positive or not", None),
        (MOODS, "The sentiment is positive", 2), (MOODS, "Sentiment: positive", 2), (MOODS, "So positive", 2),
        (MOODS, '{"sentiment": "positive"}', 2), (MOODS, "The sentiment of the tweet is clearly negative.", 0),
        (MOODS, "The sentiment is not positive", None), (MOODS, "Negative - 10%\nNeutral - 5%\nPositive - 85%", None),
        (NLI, "True?", None), (NLI, "The statement is true", 0), (NLI, "Classification: False", 2),
        (NLI, "It is neither true nor false", 1), (NLI, "The hypothesis is false given the premise.", 2),
        (NLI, "The statement is not true", None), (NLI, "It is true or false", None),
        (AMHARIC, "አዎንታዊ አይደለም", None), (AMHARIC, "መልሱ አዎንታዊ አይደለም", None), (AMHARIC, "አዎንታዊ ነው", 2),
        (["12", "112", "2", "1/2"], "$12$", 0),
    ],
)  # fmt: skip
def test_more_ways_to_name_a_label(labels: list[str], text: str, index: int | None) -> None:
    for _ in range(2):
        assert named_choice(text, labels, labels, OF_CITIES) == index


def test_a_letter_and_the_text_of_another_choice_contradict() -> None:
    numbers = ["12", "112", "2", "1/2"]
    assert [named_choice(text, LETTERS, numbers) for text in ("A) 112", "A = 12", "B) 112")] == [None, 0, 1]


PIECES = st.sampled_from(
    [
        "the answer is ",
        "Answer: ",
        "not ",
        "if ",
        " ",
        "\n",
        "(",
        ")",
        "**",
        r"\boxed{",
        "}",
        ".",
        ",",
        " or ",
        "C",
        "a",
        "x",
    ]
)


@given(st.text() | st.lists(PIECES).map("".join))
def test_what_is_named_was_written(text: str) -> None:
    named = named_choice(text, LETTERS, TEXTS, LEAD_INS)
    assert named is None or LETTERS[named] in text.upper() or "p" in text.casefold()


@given(st.lists(PIECES).map("".join), st.sampled_from("ABD"))
def test_a_last_word_decides(text: str, letter: str) -> None:
    assert named_choice(f"{text}\nWait. The final answer is {letter}.", LETTERS, TEXTS) == LETTERS.index(letter)
