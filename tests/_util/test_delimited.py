"""Delimited tables and CoNLL files, in every way in which they are written, and damaged."""

import csv
import io
from itertools import product
from typing import Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from afrieval._util.delimited import parse_delimited
from afrieval._util.tables import DEFECT, DOCUMENT, parse_conll

HEADER = "question\tchoices\tanswer\tsubject"
REST = "\t['a', 'b', 'c', 'd']\tB\tlaw"
CELLS = ["['a', 'b', 'c', 'd']", "B", "law"]


def parsed(text: str, delimiter: str = "\t") -> list[list[str]]:
    """The rows below the header; none may have a defect."""
    records = parse_delimited(text, delimiter)
    assert not [r.defect for r in records if r.defect]
    return [r.cells for r in records[1:]]


def defects(text: str, delimiter: str = "\t") -> list[str]:
    return [r.defect for r in parse_delimited(text, delimiter)[1:]]


def raw(*questions: str) -> str:
    """A table as it is made by hand: nothing is quoted."""
    return "\n".join([HEADER, *(q + REST for q in questions)]) + "\n"


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_a_mark_that_is_never_closed_swallows_no_lines(end: str) -> None:
    questions = ['"Who said no', "two", "three", 'He said "yes"', "five", '"six', "seven", "eight", 'nine"', "ten"]
    assert parsed(raw(*questions).replace("\n", end)) == [[q, *CELLS] for q in questions]


@pytest.mark.parametrize(
    "marked", ['"a', 'a"', 'a " b', '"a" b', 'a "b"', 'a "b" c', '""a', '""a"" b', '"', '"""', '"a"b"']
)
def test_raw_marks_anywhere_in_a_cell(marked: str) -> None:
    for questions in ([marked, "x", "y"], ["x", marked, marked, "y"], ["x", "y", marked], [marked, "x", 'y "z"']):
        assert parsed(raw(*questions)) == [[q, *CELLS] for q in questions]


def test_marks_around_a_cell_belong_to_it_where_marks_are_raw() -> None:
    assert parsed(raw('"whole"', 'say "no"')) == [['"whole"', *CELLS], ['say "no"', *CELLS]]
    assert parsed(raw('"whole"', "say no")) == [["whole", *CELLS], ["say no", *CELLS]]  # as the standard has it
    all_enclosed = '"a"\t"b"\n"whole"\t"x"\nsay "no"\ty\n'
    assert parsed(all_enclosed) == [["whole", "x"], ['say "no"', "y"]]


def test_lines_added_by_hand_to_a_quoted_table() -> None:
    """pandas encloses what holds marks and doubles them; then somebody goes on without."""
    text = raw("one", '"Who said no', "three", 'four "')
    text = text.replace("['a', 'b', 'c', 'd']", '''"['a', ""b's"", 'c', 'd']"''', 2)
    assert [cells[0] for cells in parsed(text)] == ["one", '"Who said no', "three", 'four "']
    assert [cells[1] for cells in parsed(text)] == ["""['a', "b's", 'c', 'd']"""] * 2 + [CELLS[0]] * 2


def written(rows: list[list[str]], delimiter: str, end: str = "\n", all_cells: bool = False) -> str:
    text = io.StringIO(newline="")
    kind: Literal[0, 1] = csv.QUOTE_ALL if all_cells else csv.QUOTE_MINIMAL
    csv.writer(text, delimiter=delimiter, lineterminator=end, quoting=kind).writerows(rows)
    return text.getvalue()


TEXTS = st.text(st.sampled_from("ab\"',;\n\r \u2028é"), max_size=12)


@settings(max_examples=150)
@given(
    st.integers(1, 4).flatmap(lambda n: st.lists(st.lists(TEXTS, min_size=n, max_size=n), min_size=1, max_size=6)),
    st.sampled_from(["\n", "\r\n"]),
    st.booleans(),
)
def test_what_a_writer_quotes_comes_back(rows: list[list[str]], end: str, all_cells: bool) -> None:
    rows = [[cell.replace("\r", "\r\n") for cell in row] for row in rows]  # a lone one is quoted by newer writers only
    if len(rows[0]) > 1:
        rows = [row for row in rows if any(cell.strip(" ") for cell in row)]
    header = [f"column {i}" for i in range(len(rows[0]))] if rows else ["a"]
    assert parsed(written([header, *rows], "\t", end, all_cells)) == rows


@settings(max_examples=150)
@given(st.lists(st.tuples(*[st.text(st.sampled_from("ab\"',\n "), max_size=12)] * 3), min_size=1, max_size=6))
def test_commas_and_line_breaks_in_quoted_csv(texts: list[tuple[str, ...]]) -> None:
    rows = [list(row) for row in texts if row != ("",) * 3] + [["a, b", "", ""]]  # which no hand-made table could have
    assert parsed(written([["1", "2", "3"], *rows], ","), ",") == rows


@settings(max_examples=150)
@given(st.lists(st.text(st.sampled_from("ab\"', \u2028"), min_size=1, max_size=8), min_size=1, max_size=12))
def test_a_hand_made_table_has_as_many_rows_as_lines(questions: list[str]) -> None:
    records = parse_delimited(raw(*questions), "\t")[1:]
    assert [r.cells[1:] for r in records] == [CELLS] * len(questions)
    for record, question in zip(records, questions, strict=True):
        assert not record.defect
        enclosed = question[1:-1].replace('""', '"') if question[0] == question[-1] == '"' else question
        assert record.cells[0] in (question, enclosed)


def test_enclosed_cells_over_several_lines() -> None:
    text = 'question\tanswer\n"one\n\n""two""\r\nthree"\t1\nfour\t"5\n"\n'
    assert parsed(text) == [['one\n\n"two"\r\nthree', "1"], ["four", "5\n"]]
    assert [r.line for r in parse_delimited(text, "\t")] == [1, 2, 6]
    assert parsed('a,b\n"x, y\nz, u",1\n', ",") == [["x, y\nz, u", "1"]]
    assert parsed('text\n"a\nb"\n') == [["a\nb"]]
    assert parsed('a\t"two\nlines"\n1\t2\n') == [["1", "2"]]


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("cell", ["be\r", "\rbe", "sehlomathiso\r 2", "a\r\rb", '"a\rb"', '"a" b\rc'])
def test_a_lone_carriage_return_is_text_where_the_header_ends_in_a_line_feed(cell: str, end: str) -> None:
    enclosed = cell.strip('"') if cell[0] == cell[-1] == '"' else cell
    for delimiter in "\t,":
        text = end.join(["a\tb\tc", f"1\t{cell}\t2", f"{cell}\t3\t4", "5\t6\t7", ""]).replace("\t", delimiter)
        assert parsed(text, delimiter) == [["1", enclosed, "2"], [enclosed, "3", "4"], ["5", "6", "7"]]
    assert parse_conll(f"a O{end}Juma\r B{end}") == [{"tokens": ["a", "Juma\r"], "tags": ["O", "B"]}]


def test_all_ends_of_lines_count_where_the_header_ends_in_a_carriage_return() -> None:
    assert parsed("a\tb\r1\t2\r3\t4\n5\t6\r\n") == [["1", "2"], ["3", "4"], ["5", "6"]]
    without_header = parse_delimited("1\t2\r3\t4\r", "\t", ["a", "b"])[1:]
    assert [(row.line, row.cells) for row in without_header] == [(1, ["1", "2"]), (2, ["3", "4"])]
    assert parsed("a\tb\n1\t2\r") == [["1", "2"]], "the end of the text is the end of a line"


def test_what_may_be_one_row_or_two_is_marked() -> None:
    for delimiter in "\t,":
        text = 'a\tb\n"x\t1\ny"\t2\nz\t3\n'.replace("\t", delimiter)
        assert defects(text, delimiter) == [
            "line 2: a quotation mark that is closed in line 3, maybe of another row",
            "",
        ]


def test_a_line_with_other_columns_stays_in_its_place() -> None:
    text = raw("one", "two", "three", "four").splitlines()
    text[2], text[3] = "two\tB", text[3] + "\tmore"
    records = parse_delimited("\n".join(text), "\t")[1:]
    assert [r.defect for r in records] == [
        "",
        "line 3: 2 columns, the header has 4",
        "line 4: 5 columns, the header has 4",
        "",
    ]
    assert records[3].cells == ["four", *CELLS]


def test_a_broken_line_and_a_mark_that_is_never_closed() -> None:
    """No reading fits the whole table: clear lines are taken, whatever stands around them."""
    for before, after in product((0, 2), (0, 2)):
        questions = ["x"] * before + ['"open', "y", "BROKEN", "z", 'and "quoted" words'] + ["x"] * after
        lines = raw(*questions).replace("BROKEN" + REST, "broken").replace("z" + REST, '"two\nlines"' + REST)
        records = parse_delimited(lines, "\t")[1:]
        assert [r.cells[0] for r in records] == [
            q.replace("BROKEN", "broken").replace("z", "two\nlines") for q in questions
        ]
        assert [bool(r.defect) for r in records] == [q == "BROKEN" for q in questions]


def test_empty_lines_nul_bytes_and_long_cells() -> None:
    assert parsed("\n a\tb\n\n1\t2\n   \n\n3\t\n\n\n") == [["1", "2"], ["3", ""]]
    assert parsed("a\tb") == parsed("") == parsed("\n\n") == []
    assert defects("a\tb\n1\t\0\n2\t3\n") == ["", ""], "a control character is text, and is shown as such"
    assert parsed("a\tb\n1\t" + "y" * 200_000) == [["1", "y" * 200_000]]


@settings(max_examples=150)
@given(st.text(st.sampled_from('ab"\t\n\r,')), st.sampled_from("\t,"))
def test_any_text_is_parsed_and_loses_no_line(text: str, delimiter: str) -> None:
    records = parse_delimited(text, delimiter)
    assert all(len(r.cells) == len(records[0].cells) for r in records if not r.defect)
    letters = "".join(c for r in records for cell in r.cells for c in cell if c in "ab")
    assert any(r.defect for r in records) or letters == "".join(c for c in text if c in "ab")


TEXT = "Juma B-PER\nyuko O\n\nNg'ombe O\n, O\n"
SENTENCES = [{"tokens": ["Juma", "yuko"], "tags": ["B-PER", "O"]}, {"tokens": ["Ng'ombe", ","], "tags": ["O", "O"]}]
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
    ("line", "found"), [("Juma", "1 column"), (" O", "1 column"), ("\tO", "1 column"), ("Juma NNP B-PER", "3 columns")]
)
def test_a_line_without_a_tag_is_a_defect_of_its_sentence(line: str, found: str) -> None:
    before, damaged, after = parse_conll(f"a O\n\nb O\n{line}\nc O\n\nd O\n")
    assert DEFECT not in before and after == {"tokens": ["d"], "tags": ["O"]}
    assert damaged[DEFECT] == f"line 4: {found} instead of a token and a tag"


def test_a_token_may_contain_blanks_if_tabs_separate_columns() -> None:
    assert parse_conll("10 000\tB-DATE\n") == [{"tokens": ["10 000"], "tags": ["B-DATE"]}]


def test_a_no_break_space_is_a_token() -> None:
    assert parse_conll("\u00a0 O\n\u2028 O\n\u3000\tO\n") == [
        {"tokens": ["\u00a0", "\u2028", "\u3000"], "tags": ["O"] * 3}
    ]


@settings(max_examples=50)
@given(st.lists(st.lists(lines, min_size=1), max_size=5), st.sampled_from("\t "), st.sampled_from(["\n", "\r\n"]))
def test_what_is_written_is_parsed(sentences: list[list[tuple[str, str]]], separator: str, end: str) -> None:
    text = "".join("".join(separator.join(line) + end for line in sentence) + end for sentence in sentences)
    assert [list(zip(s["tokens"], s["tags"], strict=True)) for s in parse_conll(text)] == sentences
    assert not any(DEFECT in s for s in parse_conll(text))


@given(st.text(st.sampled_from("aO-, \t\r\n\u00a0")))
def test_no_text_is_too_damaged(text: str) -> None:
    for sentence in parse_conll(text):
        assert len(sentence["tokens"]) == len(sentence["tags"]) and (sentence["tokens"] or DEFECT in sentence)
