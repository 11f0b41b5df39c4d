"""Scores of parts within parts: micro and macro means, then categories, their subcategories and their subjects."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from afrieval.analysis.breakdown import places, with_field
from afrieval.analysis.scores import Average, averaged
from afrieval.results.grouped_fields import levels, nested_fields, ordered, smallest
from afrieval.results.schema import Declared
from afrieval.results.scores import CellScores
from afrieval.statistics.intervals import Interval


class Branch(NamedTuple):
    """A score of documents that belong together, over prompts.

    Attributes:
        path: field to value, the largest group first; empty for all documents.
        parts: how many values a macro mean is over; None for all other scores.
    """

    path: Mapping[str, str]
    score: float
    interval: Interval | None
    n: int
    parts: int | None = None


@dataclass(frozen=True)
class Tree:
    """The scores of a task in one language and prompt language, over prompts.

    Attributes:
        dimensions: what the cells are, but for the prompt.
        levels: the fields, the largest groups first.
        branches: all documents first: micro, and macro if the task declares it; each group is followed by its own.
        cells: one per prompt.
        n: documents of all branches.
    """

    task: str
    dimensions: dict[str, Any]
    levels: list[str]
    branches: list[Branch]
    cells: list[CellScores]
    n: int


def has_tree(cell: CellScores, name: str) -> bool:
    """Returns whether a field of a cell's task groups another's values, is grouped, or has a macro mean."""
    return name in nested_fields(cell.declared)


def trees(cells: list[CellScores], name: str) -> list[Tree]:
    """Returns the scores of the cells for which `has_tree`, down to a field.

    Raises:
        UserError: if no task declares the field, or the samples were stored without their documents.
    """
    return [
        _tree(dimensions, of_place, levels(of_place[0].declared, name))
        for dimensions, of_place in places([c for c in with_field(cells, name) if has_tree(c, name)])
    ]


def outlines(cells: list[CellScores]) -> list[Tree]:
    """Returns the trees to show after a run: whole for a single language and prompt language, else the top level.

    The scores of all documents are in the first ones only.

    Args:
        cells: of one task; fields that they lack, since documents were not stored, are left out.
    """
    found: list[Tree] = []
    declared = cells[0].declared
    for name in smallest(declared):
        of_field = [cell for cell in cells if cell.n and name in cell.fields]
        fields = levels(declared, name)
        shown = fields[0] if len(list(places(of_field))) > 1 else _telling(declared, fields)
        of_trees = trees(of_field, shown) if of_field else []
        found += [replace(t, branches=[b for b in t.branches if b.path]) for t in of_trees] if found else of_trees
    return found


def _telling(declared: Declared, fields: list[str]) -> str:
    """Returns the smallest of some fields, or the one above it if that only gives its values other names."""
    *_, above, name = [*fields[:1], *fields]
    groups = declared.get("grouped_fields", {}).get(above)
    return above if groups and all(len(values) == 1 for values in groups["groups"].values()) else name


def _tree(dimensions: dict[str, Any], cells: list[CellScores], fields: list[str]) -> Tree:
    whole, macro = averaged(cells), averaged(cells).macro
    branches = [Branch({}, whole.score, whole.interval, len(whole.ids))]
    if macro:
        branches.append(Branch({}, macro.score, macro.interval, len(whole.ids), macro.parts))
    branches += _branches(whole, fields, {}, cells[0].declared)
    return Tree(cells[0].task, dimensions, fields, branches, cells, len(whole.ids))


def _branches(whole: Average, fields: list[str], path: Mapping[str, str], declared: Declared) -> Iterator[Branch]:
    name, *smaller = fields
    labels = whole.cells[0].fields[name]
    order = {value: at for at, value in enumerate(ordered(declared, name))}
    for value in sorted(labels.names, key=lambda value: (order.get(value, len(order)), value)):
        places = np.flatnonzero(labels.codes == labels.names.index(value))
        if not len(places):
            continue
        part, below = whole.take(places), {**path, name: value}
        yield Branch(below, part.score, part.interval, len(places))
        if smaller:
            yield from _branches(part, smaller, below, declared)
