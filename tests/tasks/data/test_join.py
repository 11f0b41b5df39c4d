"""Rows find their counterparts, whatever way their text is written; no row is lost, and none is doubled."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from afrieval._util.errors import UserError
from afrieval._util.tables import DEFECT, Row
from afrieval.tasks.data.complete_rows import LONGEST, first_turn, joined, same_form
from afrieval.tasks.data.schema import JoinSpec

WORDS = {"None": "null", "True": "true", "False": "false"}


def dialog(body: Any) -> dict[str, Any]:
    return {"dialog": [{"body": body, "role": "user", "is_complete": True, "media": None}], "x": False}


def as_mixed(body: str) -> str:
    """Returns it in Python's way with JSON's words; of the body itself nothing is changed, as it is put in last."""
    around = re.sub("None|True|False", lambda word: WORDS[word[0]], repr(dialog("BODY")))
    return around.replace("'BODY'", repr(body))


WAYS = (lambda body: json.dumps(dialog(body)), lambda body: repr(dialog(body)), as_mixed)
BODIES = st.text(st.characters(exclude_categories=["Cs"]))
AWKWARD = st.lists(
    st.sampled_from(["null", "true", "None", "False", "'", '"', "\\", "\n", "{", "}", "[", ",", ": ", "# ", "é", "\t"])
).map("".join)


@given(BODIES | AWKWARD)
@example("")
@example('it\'s "null", not None')
@example("{'dialog': []}\\n\n\r\n\\")
def test_any_text_is_read_back(body: str) -> None:
    assert [first_turn(way(body)) for way in WAYS] == [body] * 3
    assert first_turn(json.dumps(dialog(body), ensure_ascii=False, indent=1)) == body
    assert first_turn(f"\n {as_mixed(body)} ") == body


def test_of_several_turns_the_first_counts() -> None:
    turns = [{"body": "one"}, {"body": "two"}]
    assert first_turn(repr({"dialog": turns})) == first_turn(json.dumps({"dialog": turns})) == "one"


@pytest.mark.parametrize(
    "text",
    [
        "", "Write a poem.", "None", "[]", "{}", "{'dialog': []}", "{'dialog': None}",
        "{'dialog': [{'role': 'user'}]}", "{'dialog': [{'body': None}]}", '{"dialog": [{"body": 5}]}',
        "{'dialog': [{'body': ['a']}]}", "{'dialog': [{'body': b'a'}]}", "{'dialog': [{'body': 'a'",
        "{'dialog': [{'body': 'a'}]} and more", "{'dialog': [{'body': 'a\\'}]}", "{'dialog': [{'body': '\\x'}]}",
        "{'dialog': [{'body': '''a'''}]}", "\x00", "\ud800",
    ],
)  # fmt: skip
def test_what_is_no_dialog(text: str) -> None:
    assert first_turn(text) is None


@pytest.mark.parametrize(
    "code",
    [
        "__import__('os').system('touch {0}')", "open('{0}', 'w')", "f\"{{open('{0}', 'w')}}\"",
        "'a' + open('{0}', 'w').name", "(lambda: open('{0}', 'w'))()", "[open(x, 'w') for x in ['{0}']][0]",
        "'a' if open('{0}', 'w') else 'b'", "'a' 'b'", "'a' * 3", "str('a')",
    ],
)  # fmt: skip
def test_code_is_never_run(code: str, tmp_path: Path) -> None:
    place = tmp_path / "ran"
    expression = code.format(place)
    for text in (expression, f"{{'dialog': [{{'body': {expression}, 'media': null}}]}}"):
        assert first_turn(text) is None
    assert not place.exists()
    eval(f"{{'dialog': [{{'body': {expression}, 'media': None}}]}}")  # noqa: S307  (it is code indeed)
    assert place.exists() == ("{0}" in code)


@pytest.mark.parametrize(
    "unit", ["[", "{", "(", "-", "'", '"', "'\\", "\\", '"""', "{'a': ", "1+", "[[", "'a' ", "0", "None ", "é'", "\n "]
)
def test_no_text_takes_long(unit: str) -> None:
    for length in (LONGEST, 10**6):
        assert first_turn((unit * length)[:length]) is None  # or the test would take minutes


def test_brackets_in_brackets() -> None:
    for way in (json.dumps, repr):
        assert first_turn(way(dialog("[" * 1000))) == "[" * 1000
        deep: Any = []
        for _ in range(100):
            deep = [deep]
        assert first_turn(way(dialog("a") | {"x": deep})) == "a"
    assert first_turn("{'dialog': [{'body': 'a'}], 'x': " + "[" * 9999 + "]" * 9999 + "}") is None


PLAIN = JoinSpec("o/n", "main", "config:default", "train", key="question", other_key="problem")
DIALOG = JoinSpec("o/n", "main", "config:default", "train", key="question", other_key="problem", dialog=True)


def others(*texts: str) -> list[Row]:
    return [{"problem": text, "solution": f"of {number}"} for number, text in enumerate(texts)]


def questions(*texts: str) -> list[Row]:
    return [{"question": text, "id": number} for number, text in enumerate(texts)]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("What is 1?", "What is 1?"),
        ("What is 1?", "what is 1?\n"),
        ("What is 1?", "What  is\t1?"),
        ("What is\n1?", "What is\r\n1?"),
        ("What is 1?", " What\u00a0is 1? "),
        ("Is it True that", "Is it true that"),
        ("ẹ̀kọ́", "e\u0323\u0300ko\u0323\u0301"),
        ("STRASSE", "straße"),
    ],
)
def test_the_same_text_but_for_blanks_and_capitals(one: str, other: str) -> None:
    assert same_form(one) == same_form(other)
    (row,) = joined(questions(one), others("another", other), PLAIN, "file")
    assert row == {"question": one, "id": 0, "problem": other, "solution": "of 1"}


@pytest.mark.parametrize(("one", "other"), [("a b", "ab"), ("a.", "a"), ("è", "e"), ("x^2", "x2"), ("-1", "1")])
def test_other_texts(one: str, other: str) -> None:
    (row,) = joined(questions(one), others(other), PLAIN, "file")
    assert row == {"question": one, "id": 0, DEFECT: "no row of o/n has its text"}


def test_a_dialog_that_cannot_be_read_says_so() -> None:
    rows = joined(questions(repr(dialog("a")), "a", json.dumps(dialog("z"))), others("a"), DIALOG, "file")
    assert rows[0]["solution"] == "of 0"
    assert [row[DEFECT] for row in rows[1:]] == ["its dialog cannot be parsed", "no row of o/n has its text"]


def test_a_column_that_both_have_stays_the_row_s_own() -> None:
    (row,) = joined([{"question": "a", "split": "latest"}], [{"problem": "A", "split": "test"}], PLAIN, "file")
    assert row == {"question": "a", "split": "latest", "problem": "A"}


def test_counterparts_that_say_the_same_are_one() -> None:
    twice = [{"idx": 0, "problem": "a", "solution": "5"}, {"idx": 7, "problem": "a", "solution": "5"}]
    assert [row["solution"] for row in joined(questions("a", "a"), twice, PLAIN, "file")] == ["5", "5"]
    with pytest.raises(UserError, match="o/n has two different rows for 'A'"):
        joined(questions("a"), [*twice, {"idx": 8, "problem": "A", "solution": "6"}], PLAIN, "file")


def test_columns_that_are_not_there() -> None:
    with pytest.raises(UserError, match="file, row 0, has no column 'question'") as caught:
        joined([{"id": 3}], others("a"), PLAIN, "file")
    assert caught.value.hint == "it has id"
    for other in ({"text": "a"}, {"problem": None}):
        with pytest.raises(UserError, match="o/n has a row without 'problem'"):
            joined(questions("a"), [other], PLAIN, "file")


@given(st.lists(st.sampled_from("abcdeABC")), st.lists(st.sampled_from("abcd"), unique=True))
def test_every_row_is_there_once_and_in_order(asked: list[str], known: list[str]) -> None:
    rows = joined(questions(*asked), others(*known), PLAIN, "file")
    assert [(row["question"], row["id"]) for row in rows] == [(text, n) for n, text in enumerate(asked)]
    for row in rows:
        assert (DEFECT in row) == (row["question"].lower() not in known) == ("solution" not in row)
        assert DEFECT in row or row["problem"] == row["question"].lower()
