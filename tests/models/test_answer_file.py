"""What a kill, a power cut or an editor may leave in an answer file is never taken for an answer."""

import json
import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from afrieval.models.answer_file import AnswerFile, is_answer
from afrieval.scoring.responses import Generated, Scored, details_of

KEPT: dict[str, Any] = {"a": [-1.5, True, 2], "b": "text", "c": -3.25, "d": [-0.5, False], "e": ""}
METHODS = ("loglikelihood", "loglikelihood_rolling", "generate_until")


def written(folder: Path) -> Path:
    path = folder / "answers.jsonl"
    with AnswerFile(path) as answers:
        for key, answer in KEPT.items():
            answers.put(key, answer)
    return path


@given(st.data())
def test_nothing_but_what_was_put_comes_back(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    path = written(tmp_path_factory.mktemp("answers"))
    whole = path.read_bytes()
    cut = data.draw(st.integers(0, len(whole)))
    line = st.one_of(st.binary(max_size=40), st.just(b"[" * 5000), st.just(b'["x", 1]extra'))
    junk = data.draw(st.one_of(st.just(b"\0" * 4096), st.just(b"\xff"), line.map(lambda text: b"\n" + text)))
    path.write_bytes(whole[:cut] + junk + b"\n" * data.draw(st.integers(0, 1)) + whole[cut:][:30])
    with AnswerFile(path) as answers:
        assert all(answers.get(key) in (None, answer) for key, answer in KEPT.items())
        assert all(answers.get(key) == KEPT[key] for key in list(KEPT)[: whole[:cut].count(b"\n")])
        answers.put("new", "x")
    *lines, tail = path.read_bytes().split(b"\n")
    assert json.loads(lines[-1]) == ["new", "x"] and tail == b"", "the end that was cut short is gone"


def test_the_end_that_was_cut_short_is_cut_off(tmp_path: Path) -> None:
    path = written(tmp_path)
    whole = path.read_bytes()
    for rest in (b"\0\0\0\0", b'["f", [-1.0, tr', b"\xff", b"5"):
        path.write_bytes(whole + rest)
        AnswerFile(path).__exit__(None, None, None)
        assert path.read_bytes() == whole
    path.write_bytes(whole[:-1])  # only the end of the line is missing
    with AnswerFile(path) as answers:
        assert answers.get("e") == ""
    assert path.read_bytes() == whole


@pytest.mark.parametrize(
    ("value", "method"),
    [
        ("", "generate_until"),
        ("text", "generate_until"),
        (-1.0, "loglikelihood_rolling"),
        (-math.inf, "loglikelihood_rolling"),
        ([-1.0, True], "loglikelihood"),
        ([-1.0, False, 3], "loglikelihood"),
        ([-math.inf, False, 1], "loglikelihood"),
    ],
)
def test_an_answer_belongs_to_one_method(value: Any, method: str, tmp_path: Path) -> None:
    assert [m for m in METHODS if is_answer(value, m)] == [method]
    path = tmp_path / "answers.jsonl"
    path.write_text(json.dumps(["key", value]) + "\n")
    with AnswerFile(path) as answers:
        assert [answers.get("key", m) for m in METHODS] == [value if m == method else None for m in METHODS]


@pytest.mark.parametrize(
    "value",
    [
        None, True, math.nan, math.inf, [], {}, [-1.0], [-1.0, 1], ["x", True], [math.nan, True, 1], [-1.0, True, 0],
        [-1.0, True, 1.5], [-1.0, True, True], [-1.0, True, 1, 1], [[-1.0, True, 1]], {"a": 1},
    ],
)  # fmt: skip
def test_what_is_no_answer_is_replaced(value: Any, tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    path.write_text(json.dumps(["key", value]) + "\n")
    with AnswerFile(path) as answers:
        assert [answers.get("key", method) for method in METHODS] == [None] * 3
        answers.put("key", (-1.0, True, 1))
    with AnswerFile(path) as answers:
        assert answers.get("key", "loglikelihood") == [-1.0, True, 1]


def test_details_of_answers_come_back(tmp_path: Path) -> None:
    text, likelihood = Generated("A", {"tokens": 3}), Scored((-1.5, True, 1), {"letters": 4})
    with AnswerFile(tmp_path / "answers.jsonl") as answers:
        answers.put("a", text)
        answers.put("b", likelihood)
        answers.put("c", Scored((-2.5, False, 1), {}))
        answers.put("d", "plain")
        answers.put("a", Generated("A", {"tokens": 3}))
    with AnswerFile(tmp_path / "answers.jsonl") as answers:
        assert answers.get("a", "generate_until") == text and answers.get("b", "loglikelihood") == likelihood
        assert [details_of(answers.get(key)) for key in "abcd"] == [{"tokens": 3}, {"letters": 4}, {}, {}]
        assert answers.details() == [{"tokens": 3}, {"letters": 4}]
    assert len((tmp_path / "answers.jsonl").read_text().splitlines()) == 4


def test_numbers_of_tokens_come_back_as_they_were(tmp_path: Path) -> None:
    details = {"tokens": {"logprobs": [-1.25, -math.inf], "greedy": [0, 1], "ends": 1}}
    whole = Scored([-3.5, False, 2], details)
    for _ in range(2):
        with AnswerFile(tmp_path / "answers") as answers:
            answers.put("key", whole)
            answers.put("key", whole)
            found = answers.get("key", "loglikelihood_rolling")
            assert list(found) == list(whole) and found.details == details and not answers.details()
    assert (tmp_path / "answers").read_bytes().count(b"\n") == 1
