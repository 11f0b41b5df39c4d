"""Options of commands: numbers in range and nothing else, words without names, lists, and what is missing."""

from dataclasses import dataclass, field
from typing import Annotated, Literal

import pytest
from annotated_types import Ge, Le
from hypothesis import given
from hypothesis import strategies as st

from afrieval._util.errors import UserError
from afrieval.config.arguments import read_options, sections_of
from afrieval.config.help import help_text
from afrieval.config.options import Options, Repeated, Word


@dataclass(frozen=True)
class Paint(Options):
    """Paints walls."""

    wall: Annotated[str, Word("WALL")]
    """The wall."""
    colours: Annotated[list[str], Word("COLOUR ...")]
    """The colours."""
    coats: Annotated[int, Ge(1), Le(9)] = 2
    """How many
    coats."""
    only_edges: bool = False
    """Leave the middle out."""
    tool: Repeated[Literal["brush", "roll"]] = field(default_factory=list)
    """What to paint with."""


def paint(*words: str) -> Paint:
    return read_options(Paint, list(words), "paint")


def refused(*words: str) -> UserError:
    with pytest.raises(UserError) as caught:
        paint(*words)
    return caught.value


def test_words_and_options_in_any_order() -> None:
    found = Paint("north", ["red", "-"], coats=3, only_edges=True, tool=["brush", "roll"])
    assert paint("north", "red", "-", "--coats", "3", "--only-edges", "--tool=brush,roll") == found
    assert paint("--only_edges", "north", "--tool", "brush", "red", "--tool", "roll", "-", "--coats=3") == found
    assert paint("north", "red", "--only-edges", "false", "--coats", "3", "--coats", "4").coats == 4


BAD = {
    "nothing": ((), "WALL is missing", "see afrieval paint --help"),
    "word missing": (("north",), "COLOUR is missing", "see afrieval paint --help"),
    "setting of a run": (("--tasks", "x"), "unknown option --tasks", ""),
    "one dash": (("a", "b", "-c"), "unexpected argument '-c'", "--help"),
    "one of two given": (
        ("a", "b", "--tool", "gun", "--tool", "roll"), '--tool must be brush or roll, not "gun"', "brush",
    ),
    "not a boolean": (("a", "b", "--only-edges=x"), "--only_edges must be true or false", "true or false"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_refuses(name: str) -> None:
    words, message, hint = BAD[name]
    error = refused(*words)
    assert message in error.message and hint in error.hint and error.hint


@given(st.integers(-5, 20))
def test_numbers_in_range(number: int) -> None:
    words = ("north", "red", "--coats", str(number))
    if 1 <= number <= 9:
        assert paint(*words).coats == number
    else:
        assert refused(*words).message.endswith(f"not {number}")


@given(st.text())
def test_any_text_is_a_number_or_refused(text: str) -> None:
    try:
        assert paint("north", "red", f"--coats={text}").coats == int(text)
    except UserError as e:
        assert e.message.startswith("--coats must be ")


@pytest.mark.parametrize("text", ["", " 1", "1_0", "1.0", "1e3", "٣", "³", "0x1", "nan", "1\n", "true", "9" * 5000])
def test_what_is_not_a_number(text: str) -> None:
    kind = "smaller whole" if len(text) > 18 else "whole"
    assert refused("north", "red", "--coats", text).message.startswith(f"--coats must be a {kind} number")


def test_help_is_complete() -> None:
    out = help_text("paint", Paint, sections_of(Paint)) + "\n"
    assert out.startswith("usage: afrieval paint WALL COLOUR ... [options]\n\nPaints walls.\n\nOptions:\n  WALL\n")
    assert "  --coats N\n      How many coats. 1 to 9. Default: 2.\n" in out
    assert "  --only-edges [true|false]\n      Leave the middle out. Default: false.\n" in out
    assert "  --tool {brush,roll}\n      What to paint with. May be repeated. Default: none.\n" in out
