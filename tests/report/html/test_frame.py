"""Pages: what they allow, and text that stays text."""

import base64
import hashlib
import re
from pathlib import Path
from typing import Any

import pytest
from tests.hostile import CONTROLS, is_dangerous

from afrieval.report.html import frame
from afrieval.report.html.frame import filter_attributes, fragment, framed, safe

HERE = Path(frame.__file__).parent


def made(**values: object) -> str:
    given: dict[str, Any] = {"title": "t", "subtitle": "s", "views": [], "filters": {}}
    return framed("report.html", **given | values).decode()


def test_only_the_style_and_the_script_of_the_page_are_allowed() -> None:
    text = made()
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', text)
    assert policy and policy[1].startswith("default-src 'none';") and "unsafe" not in policy[1]
    for tag in ("style", "script"):
        (content,) = re.findall(f"<{tag}>(.*?)</{tag}>", text, re.S)
        digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}'" in policy[1]


def test_nothing_is_loaded_from_anywhere() -> None:
    text = made()
    assert not re.search(r"https?:|//[a-z]|url\(|@import|src=", text)


@pytest.mark.parametrize("path", sorted((HERE / "templates").glob("*.html")), ids=lambda path: path.name)
def test_templates_have_no_inline_styles_or_handlers(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert not re.search(r"""\sstyle=|\son[a-z]+=|\|\s*safe|javascript:""", text)


def test_text_is_escaped_and_what_is_invisible_shows() -> None:
    text = made(title=f"<b>{CONTROLS}\ud800", subtitle="{{ 7 * 7 }}")
    assert "<b>" not in text and "&lt;b&gt;" in text and r"\ud800" in text and "{{ 7 * 7 }}" in text
    assert not {c for c in text if is_dangerous(c)}


def test_attributes_cannot_be_left() -> None:
    found = filter_attributes({"model": '" onload="x', "language": "hau", "task": None, "other": 1})
    assert found == ' data-language="hau" data-model="&#34; onload=&#34;x" data-family="Afro-Asiatic"'


def test_a_missing_value_is_an_error() -> None:
    with pytest.raises(Exception, match="undefined"):
        fragment("notes.html", notes=[])


def test_the_middle_of_a_very_long_name_is_left_out() -> None:
    shown = safe("a" * 1_000_000 + "z")
    assert len(shown) < 10_000 and "992,041 characters are not shown" in shown and shown.endswith("z")
    assert safe("n" * 8_000) == "n" * 8_000
