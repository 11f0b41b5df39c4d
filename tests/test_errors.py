"""What users read of an error: short lines with both ends of what they gave, and few names to choose from."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from afrieval._util.errors import LINE, UserError, choices, nearest
from tests.hostile import HOSTILE, check

NAMES = [f"name{number}" for number in range(200)]


@pytest.mark.parametrize("value", ["http://a.b/" + "x" * 4000 + "/v1", "m " * 3000 + "end", "/".join(["x" * 30] * 300)])
def test_a_long_value_keeps_its_ends(value: str) -> None:
    error = UserError(f"model.model_name is {value!r}, which is wrong", f"correct {value}")
    for line in (error.message, error.hint, *error.args):
        assert len(line) <= LINE and "characters are not shown" in line
    assert error.message.startswith(f"model.model_name is '{value[:60]}") and error.message.endswith(", which is wrong")
    assert error.hint.endswith(value[-30:])


@given(st.text(), st.text(max_size=3))
def test_any_text_is_one_short_line(text: str, hostile: str) -> None:
    error = UserError(f"{text}{HOSTILE}\n{hostile}", text * 100)
    check(error.message, error.hint, str(error))
    assert "\n" not in str(error) and len(error.message) <= LINE >= len(error.hint)


def test_a_path_that_a_terminal_shows_stays_whole() -> None:
    path = "/home/somebody/" + "folder/" * 20 + "task.yaml"
    assert path in UserError(f"{path}: unknown key 'x'", "").message


@pytest.mark.parametrize(
    ("name", "known", "hint"),
    [
        ("afrixnl", ["afrixnli", "afrimmlu"], "did you mean afrixnli?"),
        ("YOR", ["yor", "ibo"], "did you mean yor?"),
        ("q", ["a", "b"], "choose from a, b"),
        ("q", NAMES, "afrieval list shows all"),
        ("name", NAMES, "did you mean name9, name8 or name7? afrieval list shows all"),
        ("afri", ["afrixnli", "afrimmlu", "sib200"], "did you mean afrixnli or afrimmlu? afrieval list shows all"),
        ("q" * 100_000, NAMES[:3], "choose from name0, name1, name2"),
        ("q", [letter * 5000 for letter in "abc"], "afrieval list shows all"),
        ("q", [], "there is nothing to choose from"),
    ],
)
def test_hints_name_few(name: str, known: list[str], hint: str) -> None:
    found = nearest(name, known, "afrieval list")
    assert re.match(hint.replace("?", r"\?"), found) and len(found) < LINE


def test_a_hint_shows_what_a_name_is_of() -> None:
    languages = {"hau": "Hausa (hau)", "Hausa": "Hausa (hau)", "yor": "Yoruba (yor)", "Yoruba": "Yoruba (yor)"}
    assert nearest("hauza", languages) == "did you mean Hausa (hau)?" == nearest("HAU", languages)
    assert nearest("x", languages) == "choose from Hausa (hau), Yoruba (yor)"


def test_numbers_to_choose_from() -> None:
    assert choices([1, 2, 3]) == "choose from 1, 2, 3" and choices(range(1000)).endswith("3, 4 and 995 more")
