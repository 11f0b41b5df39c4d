"""Renders templates in a separate process: `python -m afrieval.templates.worker`.

A question is `[template, values]`, or `[template, null]` for the names of the variables that the template uses.
"""

from typing import Any

from afrieval._util.templates import MEMORY, fill, names, replying
from afrieval._util.worker_process import serve


def answer(question: list[Any]) -> Any:
    """Returns a template's text, or the names of its variables."""
    source, values = question
    return names(source) if values is None else fill(source, values)


if __name__ == "__main__":
    serve(replying(answer), memory=MEMORY)
