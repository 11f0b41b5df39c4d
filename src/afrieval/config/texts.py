"""The characters of settings."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from afrieval.errors import UserError


def check_text(settings: Mapping[str, Any]) -> None:
    """Rejects characters that no name or path can contain.

    Args:
        settings: nested maps of all settings.

    Raises:
        UserError: for the first such setting.
    """
    for name, text in _texts(settings):
        if found := re.search("[\0\ud800-\udc7f\udd00-\udfff]", text):  # other surrogates are bytes of a path
            raise UserError(f"{name} is {text!r}", f"remove {found[0]!r}, which no name or path can contain")


def _texts(value: Any, name: str = "") -> Iterator[tuple[str, str]]:
    """Yields all texts of nested maps and lists, each with the name of its setting."""
    if isinstance(value, str):
        yield name, value
    elif isinstance(value, list):
        for member in value:
            yield from _texts(member, name)
    elif isinstance(value, dict):
        for key, member in value.items():
            yield from _texts(member, f"{name}.{key}" if name else str(key))
