"""Lists of spans, labels and short answers, and where they begin and end, as chat models write them."""

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


GOLD = {"anger": 0, "joy": 0, "sadness": 0}
HAUSA = ["fushi", "farin ciki", "baƙin ciki"]


def read(kind: str, text: str, names: list[str]) -> dict[str, int] | None:
    found: dict[str, int] | None = extractor(kind)(text, Question(GOLD, names, names), ExtractionContext())
    return found


@pytest.mark.parametrize(
    ("text", "labels"),
    [
        ("fushi", "anger"),
        (" Farin Ciki, baƙin ciki\n\nRubutu: ...", "joy sadness"), ("fushi; farin ciki.", "anger joy"),
        ("**fushi**", "anger"), ('["fushi", "baƙin ciki"]', "anger sadness"), ("- fushi\n- farin ciki", "anger joy"),
        ("1. fushi\n2. farin ciki\nWannan ne.", "anger joy"), ("baƙin ciki፣ fushi።", "anger sadness"),
        ("fushi. Ya ce ya gaji.", "anger"), ("fushi (sosai)", "anger"),
        ("fushi (sosai), farin ciki (kaɗan)", "anger joy"), ("anger, Joy", "anger joy"),
        ("fushi, fushi", "anger"), ("babu", ""), ("Babu.", ""), ("none", ""), ("\n\nbaƙin ciki,", "sadness"),
    ],
)  # fmt: skip
def test_a_list_of_labels(text: str, labels: str) -> None:
    assert read("labels", text, [*HAUSA, "babu"]) == {label: int(label in labels.split()) for label in GOLD}


@pytest.mark.parametrize(
    "text",
    ["", " \n", ",", "tsoro", "fushi, tsoro", "fushi ba farin ciki", "babu, fushi", "The answer is fushi", "fushin",
     "Emotions: fushi", "fushi because he is tired", "ciki"],
)  # fmt: skip
def test_no_label_is_guessed(text: str) -> None:
    assert read("labels", text, [*HAUSA, "babu"]) is None


@pytest.mark.parametrize(
    ("text", "levels"),
    [
        ("fushi: 0, farin ciki: 3, baƙin ciki: 1", [0, 3, 1]),
        ("Fushi: 2\nFarin ciki: 0\nBaƙin ciki: 3\n\nx", [2, 0, 3]),
        ("baƙin ciki: 1, farin ciki: 2, fushi: 3, fushi: 0", [3, 2, 1]), ("anger = 1, joy = 0, sadness = 0", [1, 0, 0]),
        ('{"anger": 1, "joy": 0, "sadness": 2}', [1, 0, 2]),
        ("- **fushi**: 1\n- farin ciki: 0\n- baƙin ciki: 2.", [1, 0, 2]),
        ("fushi: 2 (sosai), farin ciki: 0, baƙin ciki: 1", [2, 0, 1]),
        ("fushi: 0, farin ciki: 3", None), ("fushi: 4, farin ciki: 0, baƙin ciki: 0", None), ("0, 3, 1", None),
        ("fushi: 0, fushi: 1, farin ciki: 3, baƙin ciki: 1", None), ("fushi: -1, farin ciki: 0, baƙin ciki: 0", None),
        ("fushi: N, farin ciki: N, baƙin ciki: N", None), ("fushi: 1.5, farin ciki: 0, baƙin ciki: 0", None),
        ("", None),
    ],
)  # fmt: skip
def test_a_number_for_each_label(text: str, levels: list[int] | None) -> None:
    assert read("levels", text, HAUSA) == (None if levels is None else dict(zip(GOLD, levels, strict=True)))


def test_invisible_characters_and_dashes_between_labels() -> None:
    question = Question({"joy": 0, "fear": 1}, names=["joy", "fear"])
    assert extractor("labels")("\u200fjoy,\u200b fe\u00adar", question, ExtractionContext()) == {"joy": 1, "fear": 1}
    assert extractor("labels")("joy - fear", question, ExtractionContext()) is None
    assert extractor("levels")("\u200fjoy: 1\u200b, fear: 2", question, ExtractionContext()) == {"joy": 1, "fear": 2}
    assert extractor("levels")(f"joy: {'1' * 5000}, fear: 2", question, ExtractionContext()) is None
