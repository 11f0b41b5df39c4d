"""Matrices: a table with a score in each cell, whose rows are grouped, such as languages by family."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from markupsafe import Markup

from afrieval._util.grouping import grouped
from afrieval.languages import LANGUAGES
from afrieval.report.html.frame import fragment

EMPTY = Markup("")
MANY = 8  # columns from which their names are written vertically
SIGNS = {  # what a cell's mark looks like, and what it says
    "best": ("★", "highest"),
    "alike": ("≈", "cannot be told apart from the highest"),
    "up": ("▲", "native prompts help"),
    "down": ("▼", "native prompts hurt"),
}


class MatrixCell(NamedTuple):
    """A cell of a matrix.

    Attributes:
        text: the score; empty if there is none.
        interval: next to it or below it, on request.
        says: what else is known of it, shown when it is pointed at.
        step: class of its colour; empty for none.
        mark: one of `SIGNS`, or empty.
        key: what rows are sorted by.
        attributes: what it is about, as `frame.filter_attributes` has it.
        covers: below the score, what it is of, if that is less than others.
    """

    text: str = ""
    interval: str = ""
    says: str = ""
    step: str = ""
    mark: str = ""
    key: float | None = None
    attributes: Markup = EMPTY
    covers: str = ""


class MatrixRow(NamedTuple):
    """A row of a matrix, under its name."""

    name: str
    cells: Sequence[MatrixCell]
    attributes: Markup = EMPTY


def matrix(
    title: str,
    corner: str,
    columns: Sequence[tuple[str, Markup]],
    groups: Mapping[str, Sequence[MatrixRow]],
    notes: Sequence[str] = (),
    attributes: Markup = EMPTY,
    open_: bool = False,
) -> Markup:
    """Returns a matrix under a heading.

    `groups` has rows under what they have in common; an empty name is not shown. `open_` always shows intervals.
    """
    return fragment(
        "matrix.html",
        title=title,
        corner=corner,
        columns=columns,
        groups=groups,
        notes=notes,
        attributes=attributes,
        open_=open_,
        many=len(columns) >= MANY,
        signs=SIGNS,
    )


def family_and_name(code: str) -> tuple[str, str]:
    """Returns a language's family and name, by which languages are sorted."""
    language = LANGUAGES.get(code)
    return (language.family, language.name) if language else ("other", code)


def by_family(codes: Iterable[str], line: Callable[[str], MatrixRow]) -> dict[str, list[MatrixRow]]:
    """Returns the rows of languages under their families."""
    families = grouped(sorted(codes, key=family_and_name), lambda code: family_and_name(code)[0])
    return {family: [line(code) for code in of_family] for family, of_family in families.items()}
