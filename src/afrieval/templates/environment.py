"""The Jinja environment of prompts. Nothing here limits time or memory."""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from string import ascii_uppercase
from typing import Any

from jinja2 import StrictUndefined, Template, Undefined, meta
from jinja2.sandbox import SandboxedEnvironment

from afrieval.templates.fault import check_length, checked


def lettered(choices: Sequence[str], separator: str = ": ") -> str:
    """Returns one line per choice, beginning with its letter: `A: ...`."""
    return "\n".join(f"{letter}{separator}{text}" for letter, text in zip(ascii_uppercase, choices, strict=False))


def spaced(text: str) -> str:
    """Returns a raw name such as `high_school_geography` as words."""
    return text.replace("_", " ")


def _shown(value: Any) -> Any:
    """Returns a value that a template may print; an object would print its address, which differs each time."""
    if isinstance(value, str | int | float | list | tuple | dict | Undefined):
        return value
    raise TypeError(f"it prints a {type(value).__name__}, which is not text")


def _environment() -> SandboxedEnvironment:
    environment = SandboxedEnvironment(undefined=StrictUndefined, autoescape=False, finalize=_shown)
    environment.filters.update(lettered=lettered, spaced=spaced)
    environment.filters.pop("random")  # a prompt must be the same each time
    environment.globals.pop("lipsum")
    return environment


ENVIRONMENT = _environment()


def names(source: str) -> list[str]:
    """Returns the names of the variables that a template uses, sorted."""
    return sorted(meta.find_undeclared_variables(ENVIRONMENT.parse(source)))


def fill(source: str, values: Mapping[str, Any]) -> str:
    """Returns the text of a template.

    Args:
        source: the template.
        values: name to value.
    """
    parts, length = [], 0
    for part in _compiled(source).generate(values):
        length += len(part)
        check_length(length)
        parts.append(part)
    return checked("".join(parts))


@lru_cache(1024)
def _compiled(source: str) -> Template:
    return ENVIRONMENT.from_string(source)
