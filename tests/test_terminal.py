"""Nothing that comes from outside is obeyed by a terminal, and nothing harmless is changed."""

import io
import logging
import os
import re
import subprocess
import sys
import warnings
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.table import Table

from afrieval._util.terminal import complain, console, note, one_line, prepare, say, shortened, visible
from tests.conftest import ROOT
from tests.hostile import CONTROLS, HOSTILE, MARKUP, OF_A_TERMINAL, SEQUENCE, check, is_dangerous

SAFE = (
    "አማርኛ፡ ጥያቄ ነው።",
    "العربية، لغة \u200fA\u200e \u061c1",
    "Kínni iyì p nínú ẹ̀kọ́ ǹjẹ́",
    "می\u200cخواهم",
    "👩🏾\u200d🏫 🏳️\u200d🌈 ☀️ 🇳🇬",
    "ߒߞߏ 𞤀𞤣𞤤𞤢𞤥 ⵜⵉⴼⵉⵏⴰⵖ",
    "a\tb\n\n  c\u00a0d\u202fe\\x1b",
    "ﷺ 漢字 𝛼 ½ ‰ € – “quoted” \ufffd",
)


@pytest.mark.parametrize("text", SAFE)
def test_text_of_every_script_stays_as_it_is(text: str) -> None:
    assert visible(text) == text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[2Ja\rb\x9b", r"\x1b[2Ja\rb\x9b"),
        ("\u202edlrow\u202c\u2066\u2069", r"\u202edlrow\u202c\u2066\u2069"),
        ("\ud800-\udcff", r"\ud800-\udcff"),
        ("\u200b\ufeff\u00ad\u2060\ufff9", r"\u200b\ufeff\xad\u2060\ufff9"),
        ("\U000e0041\U000e007f", r"\U000e0041\U000e007f"),
    ],
)
def test_controls_are_shown(text: str, shown: str) -> None:
    assert visible(text) == one_line(text) == shown


def test_every_character_of_unicode_is_safe_or_shown() -> None:
    for code in range(sys.maxunicode + 1):
        character = chr(code)
        shown = visible(character)
        assert shown == character or re.fullmatch(r"\\(r|x..|u....|U.{8})", shown), hex(code)
        assert not is_dangerous(character) or shown != character, hex(code)


anything = st.text(st.characters() | st.sampled_from(HOSTILE))  # hypothesis draws no surrogate by default
with_surrogates = st.text(st.characters(categories=["Cs", "Cc", "Cf", "L", "M", "Zl", "Zp"]))


@given(anything | with_surrogates)
def test_what_is_visible_stays_visible(text: str) -> None:
    shown, line = visible(text), one_line(text)
    check(shown, line)
    assert visible(shown) == shown and one_line(line) == line and visible(line) == line
    assert shown.encode("utf-8") and not {"\n", "\t"} & set(line) if line else True
    assert shown.count("\n") == text.count("\n"), "newlines are newlines"


@given(st.text(st.characters(exclude_categories=["Cc", "Cf", "Cs", "Zl", "Zp"])))
def test_nothing_else_is_changed(text: str) -> None:
    assert visible(text) == one_line(text) == text


def test_a_note_about_a_megabyte_is_short(capsys: pytest.CaptureFixture[str]) -> None:
    complain("W" * 1_000_000, "hint")
    assert len(shown := capsys.readouterr().err) < 5_000 and "996,047 characters are not shown" in shown


@given(st.text(max_size=2000), st.integers(60, 500))
def test_long_texts_are_shortened(text: str, most: int) -> None:
    found = shortened(text, most)
    assert found == text if len(text) <= most else len(found) <= most
    assert found[:10] == text[:10] and (not text or found[-6:] == text[-6:])


def test_say_and_note(capsys: pytest.CaptureFixture[str]) -> None:
    say(f"a\n{HOSTILE}")
    note(f"b\n{HOSTILE}")
    out, err = capsys.readouterr()
    check(out, err)
    assert out.startswith("a\n") and out.count("\n") == 2 and err.startswith(r"b\n") and err.count("\n") == 1
    assert MARKUP in out and MARKUP in err


def drawn(text: str, terminal: bool) -> str:
    """Returns what a Console writes of a text in every part of a table, and of the text alone."""
    stream = io.StringIO()
    screen = console(file=stream, width=2000, force_terminal=terminal, color_system="truecolor" if terminal else None)
    table = Table(title=text, caption=text)
    table.add_column(text)
    table.add_column("other", footer=text)
    table.add_row(text, text)
    screen.print(table)
    screen.print(text, text)
    return stream.getvalue()


def test_a_console_takes_text_for_text() -> None:
    out = drawn(HOSTILE, terminal=False)
    check(out)
    assert out.count(MARKUP) == 7, "title, caption, head, two cells and two printed texts"


def test_in_a_terminal_data_adds_no_sequence() -> None:
    """The frame is rich's own, and the same whatever stands in it."""
    harmless = drawn("".join(visible(HOSTILE)), terminal=True)
    assert drawn(HOSTILE, terminal=True) == harmless and SEQUENCE not in harmless
    check(OF_A_TERMINAL.sub("", harmless))


def test_columns_line_up_where_controls_are_shown() -> None:
    stream = io.StringIO()
    table = Table("name", "score")
    table.add_row(CONTROLS, "1")
    table.add_row("plain", "2")
    console(file=stream, width=400).print(table)
    lines = [line for line in stream.getvalue().splitlines() if line.rstrip(" │").endswith(("1", "2"))]
    assert len(lines) == 2 and len(set(map(len, lines))) == 1
    assert lines[0].rfind("1") == lines[1].rfind("2")


@pytest.fixture
def _as_before() -> Iterator[None]:
    factory, form, hook = logging.getLogRecordFactory(), warnings.formatwarning, sys.excepthook
    yield
    logging.setLogRecordFactory(factory)
    warnings.formatwarning, sys.excepthook = form, hook


@pytest.mark.usefixtures("_as_before")
def test_logs_and_warnings_are_visible() -> None:
    prepare()
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    library = logging.getLogger("some.library")
    library.addHandler(handler)
    library.warning("%s\nis odd", HOSTILE)
    library.removeHandler(handler)
    check(stream.getvalue(), warnings.formatwarning(HOSTILE, UserWarning, "x.py", 1))
    assert r"\x1b" in stream.getvalue() and "\nis odd" in stream.getvalue()
    ours = logging.getLogRecordFactory()("afrieval", 30, "x.py", 1, "%s", (f"a\n{HOSTILE}",), None)
    assert ours.getMessage() == one_line(f"a\n{HOSTILE}")


PROGRAM = r"""
import logging, sys, warnings
from afrieval._util.terminal import console, note, prepare, say
prepare()
text = "".join(map(chr, (0x1B, 0x5B, 0x32, 0x4A, 0xD800, 0x202E, 0x1348)))
say(text); note(text); console().print(text); console(stderr=True).print(text)
logging.getLogger("library").warning("%s", text)
warnings.warn(text)
print(text.replace(chr(0x1B), "").replace(chr(0x202E), ""))  # a library's own
raise ValueError(text)
"""


@pytest.mark.parametrize(
    "setting", [{"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}, {"PYTHONIOENCODING": "ascii"}]
)
def test_printing_never_fails_whatever_the_locale(setting: dict[str, str]) -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, env=os.environ | setting)
    out, err = done.stdout.decode("utf-8"), done.stderr.decode("utf-8")
    check(out, err)
    assert done.returncode == 1 and "UnicodeEncodeError" not in err
    assert out.count(r"\x1b[2J\ud800\u202eፈ") == 2 and out.count("ፈ") == 3
    assert err.count(r"\x1b[2J\ud800\u202eፈ") == 5 and "ValueError" in err


def test_nothing_else_writes_to_the_screen() -> None:
    """Only terminal.py makes a Console or text of rich, or writes to the streams; ruff's T201 forbids print."""
    used = re.compile(
        r"\brich\.(console|text|markup|print|panel)\b|rich import (console|text|print)|std(out|err)\.write"
    )
    for path in (ROOT / "src").rglob("*.py"):
        assert path.name == "terminal.py" or not used.search(path.read_text(encoding="utf-8")), path
