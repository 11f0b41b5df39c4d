"""Rows find their counterparts, whatever way their text is written; no row is lost, and none is doubled."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.conftest import REAL_DATA
from tests.tasks.test_dialogs import WAYS, dialog

from afrieval._util.errors import UserError
from afrieval._util.tables import DEFECT, Row
from afrieval.tasks.data.join import joined, same_form
from afrieval.tasks.data.schema import JoinSpec
from afrieval.tasks.declaration.spec import load_task

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


def test_a_row_without_counterpart_keeps_its_place() -> None:
    rows = joined(questions("c", "x", "a"), others("a", "b", "c"), PLAIN, "file")
    assert [row.get("solution") for row in rows] == ["of 2", None, "of 0"]
    assert [DEFECT in row for row in rows] == [False, True, False]


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


def real(repository: str, file: str) -> list[Row]:
    text = (Path(str(REAL_DATA)) / repository / file).read_text(encoding="utf-8")
    return [json.loads(line) for line in text.split("\n") if line]


@pytest.mark.data
def test_all_problems_of_math_have_one_counterpart() -> None:
    spec = load_task("meta_math").join
    assert spec and spec.rows == 5000
    problems = real(spec.hub, "test.jsonl")
    asked = [{"input_question": f" {row['problem']}\r\n", "n": n} for n, row in enumerate(problems)]
    rows = joined(asked, problems[::-1], spec, "file")
    assert len(rows) == 5000 and not any(DEFECT in row for row in rows)
    assert [row["solution"] for row in rows] == [row["solution"] for row in problems]


@pytest.mark.data
@pytest.mark.parametrize("way", WAYS)
def test_all_prompts_of_ifeval_have_one_counterpart(way: Any) -> None:
    spec = load_task("meta_ifeval").join
    assert spec and spec.rows == 541
    prompts = real(spec.hub, "instruction_following_eval.jsonl")
    texts = [row["prompt"] for row in prompts]
    for ours, theirs in (("Is it true that the first song", "Is it True"), ("Is the following true", "following True")):
        assert sum(ours in text for text in texts) == 1
        other = ours.replace(theirs.replace("True", "true"), theirs)
        texts = [text.replace(ours, other) for text in texts]
        assert sum(other in text for text in texts) == 1
    rows = joined([{"input_question": way(text)} for text in texts], prompts[::-1], spec, "file")
    assert len(rows) == 541 and not any(DEFECT in row for row in rows)
    assert [row["key"] for row in rows] == [row["key"] for row in prompts]
