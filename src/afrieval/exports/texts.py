"""Texts that any program can read: strict JSON in UTF-8, and names of files."""

import json
import re
from typing import Any

_LONE = re.compile("[\ud800-\udfff]")  # halves of pairs in UTF-16, which UTF-8 does not have
_UNSAFE = re.compile(r"[\"<>:/|\\?*\[\]\x00-\x1f]+")  # what the harness replaces, and control characters


def unicode_text(text: str) -> str:
    r"""Returns a text with invalid characters as escapes such as `\ud800`."""
    return _LONE.sub(lambda found: f"\\u{ord(found[0]):x}", text)


def strict_json(value: Any, indent: int | None = None) -> bytes:
    """Returns a value as JSON that strict parsers accept; numbers must be finite."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, indent=indent)
    return _LONE.sub(lambda found: f"\\\\u{ord(found[0]):x}", text).encode()


def file_name(name: str) -> str:
    """Returns a name, such as a model's, as a file or folder may be called; as the harness does, `a/b` is `a__b`."""
    return _UNSAFE.sub("__", unicode_text(name)).rstrip(". ") or "_"
