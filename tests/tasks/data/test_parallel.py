"""Plain texts with a row per line."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from afrieval._util.errors import UserError
from afrieval._util.tables import parallel_rows

ONE, OTHER = Path("devtest/eng.devtest"), Path("devtest/yor.devtest")


def rows(source: str | bytes, target: str | bytes) -> list[dict[str, str]]:
    one, other = (text.encode() if isinstance(text, str) else text for text in (source, target))
    return parallel_rows({"source": (ONE, one), "target": (OTHER, other)})


def test_line_n_of_each_text_is_row_n() -> None:
    found = [{"source": "Hello.", "target": "Ẹ n lẹ."}, {"source": "", "target": "Ó dàbọ̀."}]
    assert rows("Hello.\n\n", "Ẹ n lẹ.\nÓ dàbọ̀.\n") == found
    assert rows("\ufeffHello.\r\n\r\n", "Ẹ n lẹ.\nÓ dàbọ̀.") == found
    assert rows("", "") == []


@pytest.mark.parametrize(("source", "lines"), [("a\n", 1), ("a\nb\nc\nd\n", 4), ("", 0)])
def test_texts_of_different_lengths_are_both_named(source: str, lines: int) -> None:
    with pytest.raises(UserError, match=f"{ONE} has {lines} lines, but {OTHER} has 2") as caught:
        rows(source, "x\ny\n")
    assert caught.value.hint


def test_a_text_that_is_no_text_is_named() -> None:
    with pytest.raises(UserError, match=f"{OTHER} cannot be parsed: line 2 is not UTF-8 text"):
        rows("a\nb\n", b"a\n\xff\n")


@given(st.lists(st.text(st.characters(exclude_characters="\r\n", exclude_categories=["Cs"])), min_size=1))
def test_texts_are_kept(lines: list[str]) -> None:
    """Other separators of lines, such as U+2028 and U+0085, belong to the text."""
    text = "".join(f"{line}\n" for line in lines)
    assert [row["source"] for row in rows(text, text)] == [lines[0].removeprefix("\ufeff"), *lines[1:]]
