"""A matrix: a table with a score in each cell, whose interval is shown on request."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from markupsafe import Markup

from afrieval.pages.shell import fragment

EMPTY = Markup("")
MANY = 8  # columns from which their names are written vertically
SIGNS = {  # what a cell's mark looks like, and what it says
    "best": ("★", "highest"),
    "alike": ("≈", "cannot be told apart from the highest"),
    "up": ("▲", "native prompts help"),
    "down": ("▼", "native prompts hurt"),
}


class Cell(NamedTuple):
    """A cell of a matrix.

    Attributes:
        text: the score; empty if there is none.
        interval: next to it or below it, on request.
        says: what else is known of it, shown when it is pointed at.
        step: class of its colour; empty for none.
        mark: one of `SIGNS`, or empty.
        key: what rows are sorted by.
        place: what it is about, as `places.place` has it.
        covers: below the score, what it is of, if that is less than others.
    """

    text: str = ""
    interval: str = ""
    says: str = ""
    step: str = ""
    mark: str = ""
    key: float | None = None
    place: Markup = EMPTY
    covers: str = ""


class Line(NamedTuple):
    """A row of a matrix, under its name."""

    name: str
    cells: Sequence[Cell]
    place: Markup = EMPTY


def matrix(
    title: str,
    corner: str,
    columns: Sequence[tuple[str, Markup]],
    groups: Mapping[str, Sequence[Line]],
    notes: Sequence[str] = (),
    place: Markup = EMPTY,
    open_: bool = False,
) -> Markup:
    """Returns a matrix under a heading.

    Args:
        title: its heading.
        corner: what rows are called.
        columns: names and what they are about.
        groups: rows under the name of what they have in common; an empty name is not shown.
        notes: sentences below it.
        place: what it is about.
        open_: whether intervals are always shown.
    """
    return fragment(
        "matrix.html",
        title=title,
        corner=corner,
        columns=columns,
        groups=groups,
        notes=notes,
        place=place,
        open_=open_,
        many=len(columns) >= MANY,
        signs=SIGNS,
    )
