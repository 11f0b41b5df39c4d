"""Findings of the schema: the place, what is there, what must be there, and the cure."""

from dataclasses import dataclass, field
from typing import Annotated, Any, Literal, NotRequired

import pytest
from annotated_types import Ge, Le
from hypothesis import given, settings
from hypothesis import strategies as st
from typing_extensions import TypedDict

from afrieval._util.errors import UserError
from afrieval._util.schema import AT_LEAST_ONE, CLOSED, LINE, Positive, checked_line, validated, validated_json


@dataclass(frozen=True)
class Data:
    __pydantic_config__ = CLOSED
    hub: str
    rows: Positive | dict[str, Positive] | None = None


@dataclass(frozen=True)
class Task:
    __pydantic_config__ = CLOSED
    name: str
    data: Data
    kind: Literal["a", "b"] = "a"
    share: Annotated[float, Ge(0), Le(1)] = 0.5
    loud: bool = False
    languages: Annotated[dict[str, str], AT_LEAST_ONE] = field(default_factory=lambda: {"yor": "yo"})
    answer: str | list[str] = "answer"
    entries: dict[int, Data] = field(default_factory=dict)
    more: list[Data] = field(default_factory=list)


GOOD: dict[str, Any] = {"name": "x", "data": {"hub": "o/n"}}
BAD: dict[str, tuple[dict[str, Any], str, str]] = {
    "unknown key": ({"nam": 1}, "f: unknown key 'nam'", "did you mean name?"),
    "unknown inner key": ({"data": {"hob": "x"}}, "f: unknown key 'data.hob'", "did you mean hub?"),
    "unknown key in a map": ({"entries": {"1": {"hub": "x", "rwos": 1}}}, "unknown key 'entries.1.rwos'", "rows"),
    "unknown key in a list": ({"more": [{"hub": "x"}, {"hb": 1}]}, "unknown key 'more.1.hb'", "hub"),
    "missing": ({"data": {}}, "f: the key 'data.hub' is missing", "add hub"),
    "number for text": ({"name": 5}, "f: name must be text, not 5", 'in quotes, as in "No"'),
    "null for text": ({"name": None}, "f: name must be text, not null", "leave the key out"),
    "text for a map": ({"data": "x"}, 'f: data must be a map, not "x"', "write a map"),
    "text for true": ({"loud": "no"}, 'f: loud must be true or false, not "no"', "true or false"),
    "not one of": ({"kind": "c"}, 'f: kind must be a or b, not "c"', "choose from a, b"),
    "too much": ({"share": 1.5}, "f: share must be 1.0 or less, not 1.5", "1.0 or less"),
    "empty": ({"languages": {}}, "f: languages must be a list or map that is not empty", ""),
    "of several kinds": ({"answer": 5}, "f: answer must be text or a list, not 5", ""),
    "inside of several kinds": ({"answer": ["a", 5]}, "f: answer.1 must be text, not 5", ""),
    "a number or a map": ({"data": {"hub": "x", "rows": "5"}}, "data.rows must be a whole number or a map", ""),
    "in the map": ({"data": {"hub": "x", "rows": {"test": 0}}}, "data.rows.test must be 1 or more, not 0", ""),
    "a key that must be a number": ({"entries": {"one": {"hub": "x"}}}, "entries.one must be a whole number", ""),
    "a very long value": ({"kind": "x" * 5000}, "characters are not shown", ""),
}


@pytest.mark.parametrize("name", BAD)
def test_what_is_wrong(name: str) -> None:
    change, message, hint = BAD[name]
    with pytest.raises(UserError) as caught:
        validated(Task, {**GOOD, **change}, "f")
    assert message in caught.value.message and hint in caught.value.hint
    assert "\n" not in caught.value.message + caught.value.hint and len(caught.value.message) < 300


def test_what_is_right() -> None:
    found = validated(Task, {**GOOD, "entries": {1: {"hub": "x"}}, "share": 1}, "f")
    assert found == Task("x", Data("o/n"), entries={1: Data("x")}, share=1.0)


def test_lines_are_named_where_they_are_known() -> None:
    with pytest.raises(UserError, match="f, line 7: name must be text, not 5"):
        validated(Task, {**GOOD, "name": 5}, "f", line=lambda place: 7 if place == ("name",) else None)
    with pytest.raises(UserError) as caught:
        validated(Task, {}, "f", hint="the cure")
    assert caught.value.hint == "the cure"


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(list(Task.__annotations__)), inner),
)


@settings(max_examples=50)
@given(anything)
def test_any_content_is_right_or_a_user_error(content: Any) -> None:
    try:
        assert isinstance(validated(Task, content, "f"), Task)
    except UserError as e:
        assert e.message.startswith("f") and e.hint and "\n" not in e.message + e.hint


def test_content_that_json_cannot_say() -> None:
    circle: dict[str, Any] = {}
    circle["data"] = circle
    for content in (circle, {"name": b"x"}, {"name": {1, 2}}, {"name": 10**5000}):
        with pytest.raises(UserError, match=r"f cannot be used|must be text"):
            validated(Task, content, "f")


class Line(TypedDict):
    __pydantic_config__ = LINE  # type: ignore[misc]
    doc_id: int
    task: NotRequired[str]


def test_lines_of_json_keep_what_the_type_does_not_name() -> None:
    assert checked_line(Line, b'{"doc_id": 1, "acc": 0.1}', "f", "") == {"doc_id": 1, "acc": 0.1}
    assert checked_line(Line, b'{"doc_id": 1, "acc": -Infinity}', "f", "")["acc"] == float("-inf")
    for line in (
        b"",
        b"{",
        b"5",
        b"null",
        b"[" * 100_000,
        b'{"doc_id": 1' + b"1" * 5000 + b"}",
        b'{"doc_id": "1"}',
        b"\xff",
    ):
        with pytest.raises(UserError, match=r"^f"):
            checked_line(Line, line, "f", "")
        with pytest.raises(UserError, match=r"^f"):
            validated_json(Line, line, "f")


class Loose(TypedDict, total=False):
    __pydantic_config__ = LINE  # type: ignore[misc]

    name: str
    other: Any


@pytest.mark.parametrize("text", ['{"name": %s}', '{"other": %s}', '{"other": [%s]}', '{"name": "x", "more": -%s}'])
def test_numbers_of_thousands_of_digits_are_refused(text: str) -> None:
    content = text % ("7" * 5000)
    with pytest.raises(UserError, match="5000 digits"):
        validated_json(Loose, content, "file", "")
    with pytest.raises(UserError, match=r"5000 digits|finite"):
        checked_line(Loose, content.encode(), "file", "")
    assert validated_json(Loose, '{"name": "%s"}' % ("7" * 5000), "file", "")
