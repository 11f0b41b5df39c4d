"""Numbers of the command line: every whole number in range is taken, and nothing else is."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from afrieval.config.options import Parser, whole_number
from afrieval.errors import UserError


@given(st.integers(-5, 20), st.integers(-3, 3), st.integers(4, 9) | st.none())
def test_numbers_in_range(number: int, least: int, most: int | None) -> None:
    allowed = number >= least and (most is None or number <= most)
    if allowed:
        assert whole_number("--n", str(number), least, most) == number
    else:
        with pytest.raises(UserError) as refused:
            whole_number("--n", str(number), least, most)
        assert f"'{number}'" in refused.value.message and str(least) in refused.value.hint


@given(st.text())
def test_any_text_is_a_number_or_refused(text: str) -> None:
    try:
        assert whole_number("--n", text, 0) == int(text)
    except UserError as e:
        assert repr(text) in e.message


@pytest.mark.parametrize("text", ["", " 1", "1_0", "1.0", "1e3", "٣", "³", "0x1", "9" * 5000, "nan", "1\n"])
def test_what_is_not_a_number(text: str) -> None:
    with pytest.raises(UserError, match="--n is"):
        whole_number("--n", text, 0)


def test_errors_of_a_command_line_are_for_users() -> None:
    with pytest.raises(UserError) as refused:
        Parser(prog="afrieval x").parse_args(["--no-such"])
    assert refused.value.hint == "see afrieval x --help"
