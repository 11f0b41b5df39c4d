"""Lists of spans, short answers, and where they begin and end, as chat models write them."""

import pytest

from afrieval.scoring.base import ExtractionContext, Question
from afrieval.scoring.extract import extractor

SPANS = Question([], names=["PER", "ORG", "LOC", "DATE"])
NOTHING = ["none", "None.", "**none**", '"none"', "`none`", "- none", "(none)", "PER: none", "PER: None\nLOC: none."]


@pytest.mark.parametrize("text", NOTHING)
def test_an_answer_that_says_that_there_are_no_spans(text: str) -> None:
    assert extractor("spans")(text, SPANS, ExtractionContext()) == []


@pytest.mark.parametrize("text", ["", "None found", "nonesuch", "Lagos", "**PER**: Musa", "PERSON: Musa"])
def test_spans_that_cannot_be_parsed(text: str) -> None:
    assert extractor("spans")(text, SPANS, ExtractionContext()) is None


def test_a_type_without_spans_is_no_span_and_does_not_end_the_list() -> None:
    text = "Here they are:\n\nPER: None\n- org: none\nLOC: Nonesuch\nDATE: (none)\nPER: O'Neil: the man"
    assert extractor("spans")(text, SPANS, ExtractionContext()) == [["LOC", "Nonesuch"], ["PER", "O'Neil: the man"]]


def test_empty_lines_do_not_end_a_list_but_text_does() -> None:
    text = "PER: Musa\n\nLOC: Kano\n\nThese are all.\nLOC: Jos"
    assert extractor("spans")(text, SPANS, ExtractionContext()) == [["PER", "Musa"], ["LOC", "Kano"]]
    tags = Question([], names=["NOUN", "PUNCT"])
    assert extractor("tags")("rain noun\n\n- PUNCT\n\nDone", tags, ExtractionContext()) == [
        ["rain", "NOUN"],
        ["-", "PUNCT"],
    ]


def test_a_code_fence_is_no_line_of_an_answer() -> None:
    assert extractor("line")("```text\nDoha\n```", Question(["Doha"]), ExtractionContext()) == "Doha"
    assert extractor("line")("```", Question(["Doha"]), ExtractionContext()) is None


def test_invisible_characters_are_passed_over() -> None:
    asked, question = ExtractionContext(), Question([["PER", "x"]], names=["PER"])
    assert extractor("line")("\u200f\n\u200eKano", question, asked) == "Kano"
    assert extractor("spans")("\u200fP\u00adER: Musa\u200b", question, asked) == [["PER", "Musa"]]
    assert extractor("tags")("Musa\u200b \u200ePER", question, asked) == [["Musa", "PER"]]
