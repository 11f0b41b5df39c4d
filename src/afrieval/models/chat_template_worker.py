"""Renders chat templates in a separate process: `python -m afrieval.models.chat_template_worker`.

A request contains the arguments of transformers' own function, so that the text is identical.
"""

from typing import Any

from transformers.utils.chat_template_utils import render_jinja_template

from afrieval.isolated.serve import serve
from afrieval.templates.fault import MEMORY, checked, replying


def answer(question: dict[str, Any]) -> str:
    """Returns the chat as one text."""
    (text,), _ = render_jinja_template(**question)
    return checked(str(text))


if __name__ == "__main__":
    serve(replying(answer), memory=MEMORY)
