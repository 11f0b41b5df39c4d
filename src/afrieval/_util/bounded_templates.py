"""Renders untrusted templates in bounded time and memory.

Jinja's sandbox keeps a template from code and files, but not from endless work. Plain templates cannot run long; all
others are rendered in a separate process, which runs this module and ends when its time is up.
"""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from afrieval._util import templates
from afrieval._util.templates import MEMORY, TemplateFault, fault, replying
from afrieval._util.worker import EndedError, isolated, serve

WORKER = "afrieval._util.bounded_templates"
SECONDS = 3.0


def fill(source: str, values: Mapping[str, Any], seconds: float = SECONDS) -> str:
    """Returns the text of a template.

    Raises:
        TemplateFault: if it cannot be rendered, for any reason, or takes too much time or memory.
    """
    return str(_done([source, dict(values)], seconds))


def names(source: str, seconds: float = SECONDS) -> list[str]:
    """Returns the names of the variables that a template uses, sorted.

    Raises:
        TemplateFault: if it cannot be parsed, uses other files, or takes too much time or memory.
    """
    return list(_done([source, None], seconds))


def _done(question: list[Any], seconds: float) -> Any:
    """Returns the answer to a question: computed here for a plain template, or else in a separate process."""
    try:
        if templates.is_plain(question[0]):
            return _answer(question)
    except Exception as e:  # all are faults of the template
        raise fault(e) from None
    return ask(WORKER, question, seconds)


def ask(worker: str, question: Any, seconds: float) -> Any:
    """Returns the answer of a separate process whose answers are made by `replying`.

    Raises:
        TemplateFault: if it cannot answer, or not in time.
    """
    try:
        reply = isolated(worker).ask(question, seconds)
    except EndedError as e:
        reason = f"it takes longer than {seconds:g} s" if e.late else "its process ended, maybe for lack of memory"
        raise TemplateFault(reason, ended=True) from None
    if "fault" in reply:
        raise TemplateFault(reply["fault"])
    return reply["result"]


@lru_cache(4096)
def is_uniform(source: str) -> bool:
    """Returns whether a template that fails with some values fails with all longer ones of the same names and types.

    Raises:
        TemplateFault: if it cannot be parsed, or is too long.
    """
    try:
        return templates.is_plain(source) and templates.is_uniform(source)
    except Exception as e:
        raise fault(e) from None


def _answer(question: list[Any]) -> Any:
    """Returns a template's text; or, if there are no values, the names of the variables that it uses."""
    source, values = question
    return templates.names(source) if values is None else templates.fill(source, values)


if __name__ == "__main__":
    serve(replying(_answer), memory=MEMORY)
