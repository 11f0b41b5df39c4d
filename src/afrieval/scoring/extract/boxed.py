r"""Reads the answer that a solution puts into a box, `\boxed{...}`, as those of MATH do (Hendrycks et al., 2021)."""

import re

from afrieval.scoring.base import Extractor

_BOX = re.compile(r"\\(?:boxed|fbox)(?![A-Za-z])\s*")
_BRACE = re.compile(r"\\.|[{}]", re.DOTALL)  # an escaped brace is a sign and opens nothing
_END = re.compile(r"\$|\n|\\[)\]]|\Z")  # of mathematics in a line


def boxed() -> Extractor:
    """Returns what takes the content of the last box."""
    return lambda text, question, asked: last_boxed(text)


def last_boxed(text: str) -> str | None:
    r"""Returns what the last box of a text holds; None if there is no box, or if it was not closed.

    A box cut short holds no answer, and no earlier box is taken in its stead. `\boxed 5`, without braces, holds what
    stands before the end of the formula or line. Of boxes in one another the innermost counts.
    """
    boxes = list(_BOX.finditer(text))
    if not boxes:
        return None
    start = boxes[-1].end()
    if text[start : start + 1] != "{":
        end = _END.search(text, start)
        return (text[start : end.start()].strip() if end else "") or None
    close = closing_brace(text, start)
    return None if close is None else text[start + 1 : close]


def closing_brace(text: str, start: int) -> int | None:
    """Returns where the brace closes that opens at `start`; None if it does not."""
    depth = 0
    for brace in _BRACE.finditer(text, start):
        depth += {"{": 1, "}": -1}.get(brace[0], 0)
        if depth == 0:
            return brace.start()
    return None
