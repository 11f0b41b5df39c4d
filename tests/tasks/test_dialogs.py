"""The first turn of a dialog is read in each way of writing one, and nothing in it is run."""

import json
import re
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from afrieval.tasks.data.join import LONGEST, first_turn

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
AWKWARD_BODIES = ["", " ", "it's", 'say "no"', 'it\'s "null", not None', "a\\", "{'dialog': []}", "\\n\n\r\n", "é" * 9]


@pytest.mark.parametrize("body", AWKWARD_BODIES)
def test_awkward_texts(body: str) -> None:
    assert [first_turn(way(body)) for way in WAYS] == [body] * 3


@given(BODIES | AWKWARD)
def test_any_text_is_read_back(body: str) -> None:
    assert [first_turn(way(body)) for way in WAYS] == [body] * 3
    assert first_turn(json.dumps(dialog(body), ensure_ascii=False, indent=1)) == body
    assert first_turn(f"\n {as_mixed(body)} ") == body


@given(BODIES | AWKWARD)
def test_keys_of_one_way_and_texts_of_the_other(body: str) -> None:
    text = f'{{"dialog": [{{"body": {body!r}, "role": \'user\', "media": null, "done": True}}], \'x\': false}}'
    assert first_turn(text) == body


def test_of_several_turns_the_first_counts() -> None:
    turns = [{"body": "one"}, {"body": "two"}]
    assert first_turn(repr({"dialog": turns})) == first_turn(json.dumps({"dialog": turns})) == "one"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Write a poem.",
        "None",
        "[]",
        "{}",
        "{'dialog': []}",
        "{'dialog': None}",
        "{'dialog': [{'role': 'user'}]}",
        "{'dialog': [{'body': None}]}",
        '{"dialog": [{"body": 5}]}',
        "{'dialog': [{'body': ['a']}]}",
        "{'dialog': [{'body': b'a'}]}",
        "{'dialog': [{'body': 'a'",
        "{'dialog': [{'body': 'a'}]} and more",
        "{'dialog': [{'body': 'a\\'}]}",
        "{'dialog': [{'body': '\\x'}]}",
        "{'dialog': [{'body': '''a'''}]}",
        "\x00",
        "\ud800",
    ],
)
def test_what_is_no_dialog(text: str) -> None:
    assert first_turn(text) is None


@pytest.mark.parametrize(
    "code",
    [
        "__import__('os').system('touch {0}')",
        "open('{0}', 'w')",
        "f\"{{open('{0}', 'w')}}\"",
        "'a' + open('{0}', 'w').name",
        "(lambda: open('{0}', 'w'))()",
        "[open(x, 'w') for x in ['{0}']][0]",
        "'a' if open('{0}', 'w') else 'b'",
        "'a' 'b'",
        "'a' * 3",
        "str('a')",
    ],
)
def test_code_is_never_run(code: str, tmp_path: Path) -> None:
    place = tmp_path / "ran"
    expression = code.format(place)
    for text in (expression, f"{{'dialog': [{{'body': {expression}, 'media': null}}]}}"):
        assert first_turn(text) is None
    assert not place.exists()
    eval(f"{{'dialog': [{{'body': {expression}, 'media': None}}]}}")  # noqa: S307  (it is code indeed)
    assert place.exists() == ("{0}" in code)


LONG = 10**6


@pytest.mark.parametrize(
    "unit", ["[", "{", "(", "-", "'", '"', "'\\", "\\", '"""', "{'a': ", "1+", "[[", "'a' ", "0", "None ", "é'", "\n "]
)
def test_no_text_takes_long(unit: str) -> None:
    for length in (LONGEST, LONG):
        start = time.process_time()
        assert first_turn((unit * length)[:length]) is None
        assert time.process_time() - start < 5


def test_brackets_in_brackets() -> None:
    for way in (json.dumps, repr):
        assert first_turn(way(dialog("[" * 1000))) == "[" * 1000
        deep: Any = []
        for _ in range(100):
            deep = [deep]
        assert first_turn(way(dialog("a") | {"x": deep})) == "a"
    assert first_turn("{'dialog': [{'body': 'a'}], 'x': " + "[" * 9999 + "]" * 9999 + "}") is None
