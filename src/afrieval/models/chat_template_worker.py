"""Renders chat templates in a separate process: `python -m afrieval.models.chat_template_worker`.

A request contains a date and the arguments of transformers' own function, so that the text is identical but for today's
date, which would change prompts and scores from day to day.
"""

from datetime import datetime
from types import SimpleNamespace
from typing import Any

from transformers.utils import chat_template_utils

from afrieval._util.templates import checked, serve_texts
from afrieval.config.settings import DATE_FORM


def answer(question: tuple[str, dict[str, Any]]) -> str:
    """Returns the chat as one text."""
    date, arguments = question
    day = datetime.strptime(date, DATE_FORM)
    chat_template_utils.datetime = SimpleNamespace(now=lambda: day)  # which strftime_now of templates asks
    (text,), _ = chat_template_utils.render_jinja_template(**arguments)
    return checked(str(text))


if __name__ == "__main__":
    serve_texts(answer)
