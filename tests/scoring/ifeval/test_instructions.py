"""IFEval against responses written by hand: each type of instruction, variants, accuracies, rows that do not fit."""

import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.scoring.ifeval.sentence_model import accuracy

from afrieval._util.errors import UserError
from afrieval.scoring.ifeval import checkers
from afrieval.scoring.ifeval.instructions import build_checkers, followed, variants

SWAHILI = "Habari za asubuhi rafiki yangu, leo tunakwenda sokoni kununua matunda na mboga kwa ajili ya watoto."
ENGLISH = "The rain fell on the old house all day, and the children stayed inside and read their books."

# instruction, kwargs, a response that follows it, one that does not
TYPES: list[tuple[str, dict[str, Any], str, str]] = [
    ("keywords:existence", {"keywords": ["river", "land"]}, "Land by the River.", "The river is wide."),
    ("keywords:frequency", {"keyword": "tea", "frequency": 2, "relation": "at least"}, "Tea, then tea.", "One tea."),
    ("keywords:forbidden_words", {"forbidden_words": ["bad"]}, "A badge.", "Too BAD."),
    (
        "keywords:letter_frequency",
        {"letter": "q", "let_frequency": 2, "let_relation": "less than"},
        "Quick.", "Quick quiz.",
    ),
    ("language:response_language", {"language": "sw"}, SWAHILI, ENGLISH),
    (
        "length_constraints:number_sentences", {"num_sentences": 2, "relation": "at least"},
        "One is here. Two is here.", "Only one is here.",
    ),
    ("length_constraints:number_paragraphs", {"num_paragraphs": 2}, "One.\n***\nTwo.", "One.\n\nTwo."),
    ("length_constraints:number_words", {"num_words": 3, "relation": "less than"}, "Two words.", "Now three words."),
    (
        "length_constraints:nth_paragraph_first_word",
        {"num_paragraphs": 2, "nth_paragraph": 2, "first_word": "then"},
        "First.\n\nThen, second.", "First.\n\nSecond, then.",
    ),
    ("detectable_content:number_placeholders", {"num_placeholders": 2}, "[name] of [city]", "[name] of city"),
    ("detectable_content:postscript", {"postscript_marker": "P.S."}, "Bye.\nP.S. Write soon.", "Bye. Write soon."),
    ("detectable_format:number_bullet_lists", {"num_bullets": 2}, "* one\n* two", "* one\nand two"),
    ("detectable_format:constrained_response", {}, "My answer is maybe.", "Maybe."),
    ("detectable_format:number_highlighted_sections", {"num_highlights": 2}, "*one* and *two*", "*one* and two"),
    (
        "detectable_format:multiple_sections", {"section_spliter": "Section", "num_sections": 2},
        "Section 1\nA\nSection 2\nB", "Section 1\nA",
    ),
    ("detectable_format:json_format", {}, '```json\n{"a": 1}\n```', "{a: 1}"),
    ("detectable_format:title", {}, "<<Rain>>\nIt fell.", "# Rain\nIt fell."),
    ("combination:two_responses", {}, "Yes.\n******\nNo.", "Yes.\n***\nNo."),
    ("combination:repeat_prompt", {"prompt_to_repeat": "Say hi."}, "Say hi.\nHi!", "Hi! Say hi."),
    ("startend:end_checker", {"end_phrase": "The end."}, "So it was. The end.", "The end. Or not."),
    ("startend:quotation", {}, '"All of it."', '"Some" of it.'),
    (
        "change_case:capital_word_frequency",
        {"capital_frequency": 1, "capital_relation": "at least"},
        "This is GOOD news.", "This is good news.",
    ),
    ("change_case:english_capital", {}, ENGLISH.upper(), ENGLISH),
    ("change_case:english_lowercase", {}, ENGLISH.lower(), ENGLISH),
    ("punctuation:no_comma", {}, "Red and blue.", "Red, blue."),
]  # fmt: skip


def row(*instructions: tuple[str, dict[str, Any]]) -> dict[str, Any]:
    return {"key": 7, "instruction_id_list": [i for i, _ in instructions], "kwargs": [k for _, k in instructions]}


@pytest.mark.parametrize(("instruction", "kwargs", "follows", "does_not"), TYPES, ids=[t[0] for t in TYPES])
def test_each_type(instruction: str, kwargs: dict[str, Any], follows: str, does_not: str) -> None:
    assert followed(row((instruction, kwargs)), follows) == {"strict": [True], "loose": [True]}
    assert followed(row((instruction, kwargs)), does_not) == {"strict": [False], "loose": [False]}


def test_the_table_has_each_type_of_the_harness() -> None:
    assert {t[0] for t in TYPES} == set(checkers._registry()) and len(TYPES) == 25


def test_instructions_keep_their_order_and_blanks_follow_none() -> None:
    both = row(("punctuation:no_comma", {}), ("startend:quotation", {}))
    assert followed(both, "Red.")["strict"] == [True, False]
    assert followed(both, " \n ") == {"strict": [False, False], "loose": [False, False]}


def test_variants() -> None:
    assert variants("*a*\nb\nc") == ["*a*\nb\nc", "b\nc", "*a*\nb", "b", "a\nb\nc", "a\nb"]
    assert variants("one") == ["one", ""]


@pytest.mark.parametrize("response", ["Yes, so:\nRed", "Red\nAll good, now?", "Yes, so:\nRed\nAll good, now?"])
def test_loose_forgives_a_first_and_a_last_line(response: str) -> None:
    assert followed(row(("punctuation:no_comma", {})), response) == {"strict": [False], "loose": [True]}


def test_loose_forgives_asterisks() -> None:
    end = row(("startend:end_checker", {"end_phrase": "The end."}))
    assert followed(end, "So it was. **The end.**") == {"strict": [False], "loose": [True]}


@given(st.text(st.sampled_from('a*\n,"[] ')))
def test_what_is_followed_strictly_is_followed_loosely(response: str) -> None:
    cheap = [t[:2] for t in TYPES if t[0].split(":")[0] in ("punctuation", "startend", "combination", "keywords")]
    follows = followed(row(*cheap), response)
    assert all(b or not a for a, b in zip(follows["strict"], follows["loose"], strict=True))


@pytest.mark.parametrize(
    ("name", "score"),
    [
        ("prompt_level_strict_acc", 1 / 3),
        ("inst_level_strict_acc", 2 / 4),
        ("prompt_level_loose_acc", 2 / 3),
        ("inst_level_loose_acc", 3 / 4),
    ],
)
def test_accuracies_by_hand(name: str, score: float) -> None:
    verdicts = [([True], [True]), ([True, False], [True, True]), ([False], [False])]
    results = [{"strict": strict, "loose": loose} for strict, loose in verdicts]
    assert accuracy(name, results) == pytest.approx(score)


def test_nulls_and_whole_floats() -> None:
    kwargs = {"num_paragraphs": 2.0, "nth_paragraph": 2.0, "first_word": "then", "num_words": None, "keywords": None}
    paragraph = row(("length_constraints:nth_paragraph_first_word", kwargs))
    assert followed(paragraph, "First.\n\nThen, second.")["strict"] == [True]


def test_a_character_that_is_no_letter_is_counted() -> None:
    hashtags = row(("keywords:letter_frequency", {"letter": "#", "let_frequency": 2, "let_relation": "at least"}))
    assert followed(hashtags, "#sun #sea")["strict"] == [True]
    assert followed(hashtags, "#sun, a e i o u")["strict"] == [False]


def test_english_answers_are_counted_as_the_authors_do_it_letter_and_mark_apart() -> None:
    letters = row(("keywords:letter_frequency", {"letter": "e", "let_frequency": 1, "let_relation": "at least"}))
    assert followed(letters, "cafe\N{COMBINING ACUTE ACCENT}")["strict"] == [True]


def test_nothing_is_drawn_at_random() -> None:
    import langdetect

    before = random.getstate()
    german = build_checkers(row(("language:response_language", {"language": "de"})))[0]
    assert len({german("WETIN DEY HAPPEN FOR TOWN TODAY?") for _ in range(30)}) == 1  # unseeded: German or Somali
    build_checkers(row(*(t[:2] for t in TYPES)))
    assert random.getstate() == before and langdetect.DetectorFactory.seed is None


def test_where_no_language_can_be_told_the_authors_count_it_as_followed() -> None:
    assert followed(row(("language:response_language", {"language": "sw"})), "12 34")["strict"] == [True]


def test_what_a_checker_raises_is_not_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(text: str) -> bool:
        raise ZeroDivisionError

    monkeypatch.setattr("afrieval.scoring.ifeval.instructions.build_checker", lambda *_: broken)
    with pytest.raises(ZeroDivisionError):
        followed(row(("detectable_format:json_format", {})), "a word")


@pytest.mark.parametrize(
    ("instruction", "kwargs"),
    [
        ("punctuation:no_dots", {}),
        ("punctuation:no_comma", {"num_words": 3}),
        ("length_constraints:number_words", {"num_words": 3}),
        ("length_constraints:number_words", {"num_words": -1, "relation": "at least"}),
        ("length_constraints:number_words", {"num_words": 2.5, "relation": "at least"}),
        ("length_constraints:number_words", {"num_words": "3", "relation": "at least"}),
        ("length_constraints:number_words", {"num_words": 3, "relation": "about"}),
        ("length_constraints:nth_paragraph_first_word", {"num_paragraphs": 1, "nth_paragraph": 2, "first_word": "a"}),
        ("language:response_language", {"language": "xx"}),
        ("keywords:existence", {"keywords": "river"}),
        ("keywords:existence", {"keywords": []}),
        ("keywords:letter_frequency", {"letter": "ab", "let_frequency": 1, "let_relation": "at least"}),
        ("keywords:letter_frequency", {"letter": "a", "let_frequency": 1, "let_relation": "about"}),
        ("combination:repeat_prompt", {"prompt_to_repeat": ""}),
    ],
)
def test_rows_that_cannot_be_checked_are_named(instruction: str, kwargs: dict[str, Any]) -> None:
    with pytest.raises(UserError, match=f"row 7: .*{instruction}"):
        build_checkers(row((instruction, kwargs)))


@pytest.mark.parametrize("kwargs", [[], [{}, {}]])
def test_each_instruction_has_its_kwargs(kwargs: list[dict[str, Any]]) -> None:
    with pytest.raises(UserError, match="row 7"):
        build_checkers({**row(("punctuation:no_comma", {})), "kwargs": kwargs})
    with pytest.raises(UserError, match="row 7"):
        build_checkers({**row(), "kwargs": kwargs})


@pytest.mark.parametrize("text", ["[" * 100_000, '{"a":' * 3000, "[" * 5000 + "]" * 5000])
def test_brackets_without_end_are_not_followed_and_end_no_run(text: str) -> None:
    assert followed(row(("detectable_format:json_format", {})), text) == {"strict": [False], "loose": [False]}
