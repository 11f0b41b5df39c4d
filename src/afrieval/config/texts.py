"""The texts of settings: none is empty or has characters that no name can contain."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from afrieval.errors import UserError

NOWHERE = re.compile("[\0\ud800-\udc7f\udd00-\udfff]")  # other surrogates are bytes of a path
IN_NO_NAME = re.compile(r"[\x01-\x1f\x7f-\x9f\u2028\u2029]")  # they may be in a path, and in what a model reads
# Paths, and texts for models and servers; model_name may be a folder.
FREE = (
    *("run_dir", "reference", "data.source", "task.folder", "task.unseen", "model.model_name", "model.chat_tags"),
    *("model.chat_system", "model.thinking_end", "model.backend_args", "model.api.extra_body", "model.api.server"),
)
MEANT = ("model.chat_tags", "model.backend_args", "model.api.extra_body")  # where an empty text has a meaning


def check_text(settings: Mapping[str, Any]) -> None:
    """Rejects empty texts, characters that no name or path can contain, and control characters in names and addresses.

    Args:
        settings: nested maps of all settings.

    Raises:
        UserError: for the first such setting.
    """
    for name, text in _texts(settings):
        if found := NOWHERE.search(text):
            raise UserError(f"{name} is {text!r}", f"remove {found[0]!r}, which no name or path can contain")
        if not f"{name}.".startswith(tuple(f"{free}." for free in FREE)) and (found := IN_NO_NAME.search(text)):
            raise UserError(f"{name} is {text!r}", f"remove the control character {found[0]!r}")
        if not (text.strip() or name.startswith(MEANT)):
            raise UserError(f"{name} is empty", "give a text, or leave it out")


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
