"""Removes stray whitespace from the prompts of harness tasks; nothing else is changed."""

from typing import Any

from afrieval.tasks.cleaning import LINE_END, clean


def clean_before(text: str, delimiter: str) -> str:
    """Returns a clean text that keeps one space at its end, if it had any and no delimiter follows."""
    body = clean(text)
    return body if delimiter else body + _edge(text[len(text.rstrip(" \t\r\n")) :])


def clean_after(text: str, delimiter: str) -> str:
    """Returns a clean text that keeps one space at its beginning, unless the delimiter before it ends with one."""
    body = clean(text)
    return body if delimiter[-1:].isspace() else _edge(text[: len(text) - len(text.lstrip(" \t\r\n"))]) + body


def _edge(blanks: str) -> str:
    """Returns whitespace in short: up to two line breaks, or one space."""
    line_ends = LINE_END.sub("\n", blanks).count("\n")
    return "\n" * min(2, line_ends) or (" " if blanks else "")


def clean_task(task: Any) -> None:
    """Makes a Task of the harness clean its prompts: description, question and worked examples.

    Answers in examples are cleaned too, except choices: those stay as they are scored.
    """
    if not hasattr(task, "build_qa_turn"):  # an old type of task, whose prompt is one text
        old = task.doc_to_text
        task.doc_to_text = lambda doc: clean_before(old(doc), "")
        return
    build_turn, resolve = task.build_qa_turn, task.resolve_field

    def clean_turn(*, q: str, c: Any = None, a: Any = None, tgt_delim: str = " ", **rest: Any) -> Any:
        answer = a[0] if isinstance(a, list) and a else a
        if isinstance(answer, str) and answer not in (c or ()):
            a = clean_after(answer, tgt_delim)
        # if each choice has a different context, the delimiter is part of the continuation
        delimiter = task.config.target_delimiter if a is None else tgt_delim
        return build_turn(q=clean_before(q, delimiter), c=c, a=a, tgt_delim=tgt_delim, **rest)

    def clean_description(doc: Any, field: str | None = None) -> Any:
        text = resolve(doc, field)
        return clean_before(text, "") if field == task.config.description and isinstance(text, str) else text

    task.build_qa_turn, task.resolve_field = clean_turn, clean_description
