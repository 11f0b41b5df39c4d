"""Fills templates in, in a process of its own: `python -m afrieval.templates.worker`.

A question is `[template, values]`, or `[template, null]` for the names that the template takes.
"""

from typing import Any

from afrieval.isolated.serve import serve
from afrieval.templates.environment import fill, names
from afrieval.templates.fault import MEMORY, replying


def answer(question: list[Any]) -> Any:
    """Returns a template's text, or the names that it takes."""
    source, values = question
    return names(source) if values is None else fill(source, values)


if __name__ == "__main__":
    serve(replying(answer), memory=MEMORY)
