"""The Jinja environment of prompts, and filling a template in. Nothing here limits time or memory."""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from string import ascii_uppercase
from typing import Any

from jinja2 import StrictUndefined, Template, Undefined, meta
from jinja2.sandbox import SandboxedEnvironment

from afrieval.templates.fault import check_length, checked


def lettered(choices: Sequence[str], separator: str = ": ") -> str:
    """Returns one line per choice, headed by its letter: `A: ...`."""
    return "\n".join(f"{letter}{separator}{text}" for letter, text in zip(ascii_uppercase, choices, strict=False))


def spaced(text: str) -> str:
    """Returns a raw name such as `high_school_geography` as words."""
    return text.replace("_", " ")


def _shown(value: Any) -> Any:
    """Returns a value that a template shows; an object would show its address in memory, another one each time."""
    if isinstance(value, str | int | float | list | tuple | dict | Undefined):
        return value
    raise TypeError(f"it shows a {type(value).__name__}, and not text")


def _environment() -> SandboxedEnvironment:
    environment = SandboxedEnvironment(undefined=StrictUndefined, autoescape=False, finalize=_shown)
    environment.filters.update(lettered=lettered, spaced=spaced)
    environment.filters.pop("random")  # a prompt is the same each time
    environment.globals.pop("lipsum")
    return environment


ENVIRONMENT = _environment()


def names(source: str) -> list[str]:
    """Returns the names that a template takes from outside, sorted."""
    return sorted(meta.find_undeclared_variables(ENVIRONMENT.parse(source)))


def fill(source: str, values: Mapping[str, Any]) -> str:
    """Returns the text of a template.

    Args:
        source: the template.
        values: name to what it stands for.
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
