"""CoNLL files, in every way in which they are written, and damaged."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from afrieval._util.delimited import DOCUMENT, Sentence, parse_conll

TEXT = "Juma B-PER\nyuko O\n\nNg'ombe O\n, O\n"
SENTENCES = [Sentence(["Juma", "yuko"], ["B-PER", "O"]), Sentence(["Ng'ombe", ","], ["O", "O"])]
# All that may stand in a cell: no blank, tab or line end. No-break spaces and U+2028 are characters like others.
cells = st.text(st.characters(exclude_characters=" \t\r\n", exclude_categories=["Cs"]), min_size=1, max_size=6)
lines = st.tuples(cells.filter(lambda token: not token.startswith(DOCUMENT)), cells)


@pytest.mark.parametrize(
    "text",
    [
        TEXT, TEXT.rstrip("\n"), TEXT + "\n\n\n", TEXT.replace("\n", "\r\n"), TEXT.replace("\n", "\r"),
        TEXT.replace(" ", "\t"), TEXT.replace(" ", "   ").replace("\n\n", "\n \t\n"), TEXT.replace("O\n", "O \n"),
        f"{DOCUMENT} O\n\n{TEXT}", f"{DOCUMENT} -X- -X- O\n{TEXT}", TEXT.replace("\n\n", f"\n{DOCUMENT}\n"),
    ],
)  # fmt: skip
def test_one_text_written_in_many_ways(text: str) -> None:
    assert parse_conll(text) == SENTENCES


def test_a_text_without_sentences() -> None:
    assert parse_conll("") == parse_conll("\n \n\t\n") == parse_conll(f"{DOCUMENT} O\n") == []


@pytest.mark.parametrize(
    ("line", "found"),
    [("Juma", "1 column"), (" O", "1 column"), ("\tO", "1 column"), ("Juma NNP B-PER", "3 columns")],
)
def test_a_line_without_a_tag_is_a_defect_of_its_sentence(line: str, found: str) -> None:
    before, damaged, after = parse_conll(f"a O\n\nb O\n{line}\nc O\n\nd O\n")
    assert (before.defect, after.defect) == ("", "") and after.tokens == ["d"]
    assert damaged.defect == f"line 4: {found} instead of a token and a tag"


def test_a_token_may_contain_blanks_if_tabs_separate_columns() -> None:
    assert parse_conll("10 000\tB-DATE\n") == [Sentence(["10 000"], ["B-DATE"])]


def test_a_no_break_space_is_a_token() -> None:
    assert parse_conll("\u00a0 O\n\u2028 O\n\u3000\tO\n") == [Sentence(["\u00a0", "\u2028", "\u3000"], ["O"] * 3)]


@given(st.lists(st.lists(lines, min_size=1), max_size=5), st.sampled_from("\t "), st.sampled_from(["\n", "\r\n"]))
def test_what_is_written_is_parsed(sentences: list[list[tuple[str, str]]], separator: str, end: str) -> None:
    text = "".join("".join(separator.join(line) + end for line in sentence) + end for sentence in sentences)
    assert [list(zip(s.tokens, s.tags, strict=True)) for s in parse_conll(text)] == sentences
    assert not any(s.defect for s in parse_conll(text))


@given(st.text(st.sampled_from("aO-, \t\r\n\u00a0")))
def test_no_text_is_too_damaged(text: str) -> None:
    for sentence in parse_conll(text):
        assert len(sentence.tokens) == len(sentence.tags) and (sentence.tokens or sentence.defect)
