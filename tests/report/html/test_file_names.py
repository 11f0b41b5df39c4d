"""Names of files: safe, unique, readable, and the same each time."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from afrieval.report.html.board_frame import LONGEST, file_name


@pytest.mark.parametrize("name", ["afrixnli", "hau", "masakhanews_headline", "7b"])
def test_plain_names_are_kept(name: str) -> None:
    assert file_name(name) == name


@pytest.mark.parametrize(
    ("name", "begin"),
    [
        ("meta-llama/Llama-3.1-8B", "meta-llama-llama-3.1-8b-"),
        ("../../etc/passwd", "etc-passwd-"),
        ("con", "con-"),
        ("<script>alert(1)</script>", "script-alert-1-script-"),
        ("Ọlá", "l-"),
        ("\udc80", ""),
        ("", ""),
    ],
)
def test_other_names_are_readable_and_end_in_a_hash(name: str, begin: str) -> None:
    assert re.fullmatch(f"{re.escape(begin)}[0-9a-f]{{8}}", file_name(name))


def test_names_that_differ_in_capital_letters_only_are_different_files_on_every_system() -> None:
    assert len({file_name(name).lower() for name in ("aya", "Aya", "AYA", "a-y-a", "a y a")}) == 5


@given(st.text())
def test_every_name_is_safe(name: str) -> None:
    found = file_name(name)
    assert re.fullmatch(r"[a-z0-9_][a-z0-9._-]*", found)
    assert ".." not in found and len(found) <= LONGEST + 9


@given(st.lists(st.text(), unique=True, max_size=8))
def test_different_names_are_different_files(names: list[str]) -> None:
    assert len({file_name(name) for name in names}) == len(names)
