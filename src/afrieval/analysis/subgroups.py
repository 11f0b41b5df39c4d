"""Scores of parts within parts, scores by a field of the documents, and which label was taken for which."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from afrieval._util.errors import UserError
from afrieval.analysis.scores import PromptMean, alike_but_for, averaged
from afrieval.results.cell_scores import CellScores
from afrieval.results.derived import levels, nested_fields, ordered, smallest
from afrieval.results.document_columns import Numbers
from afrieval.results.schema import Declared
from afrieval.scoring.statistics.intervals import Interval

CONFUSION = "confusion"


def with_field(cells: list[CellScores], name: str) -> list[CellScores]:
    """Returns the cells whose task declares a field to break scores down by; raises errors as `parts` does."""
    fitting = [c for c in cells if name in _declared(c)]
    if not fitting:
        options = sorted({field for c in cells for field in _declared(c)})
        options += [CONFUSION] if any(c.declared.get("labels") for c in cells) else []
        raise UserError(f"no task here can be broken down by {name!r}", f"there is: {', '.join(options)}")
    if bare := [c for c in fitting if name not in c.fields]:
        hint = "run with --eval.log_samples true to keep them"
        raise UserError(f"{bare[0].path} has no documents, only scores", hint)
    return fitting


def _declared(cell: CellScores) -> list[str]:
    return [*cell.declared.get("breakdowns", []), *nested_fields(cell.declared)]


def confusion(cells: list[CellScores]) -> Numbers:
    """Returns how often each label was picked where each was right, over the prompts of a language.

    Gold by picked, shape (labels, labels + 1); the last column is of answers that name no label.

    Raises:
        UserError: if the samples are of an older version.
    """
    labels = cells[0].declared["labels"]
    counts = np.zeros((len(labels), len(labels) + 1), dtype=np.int64)
    for cell in cells:
        if np.any(cell.n_choices != len(labels)) or np.any(cell.golds < 0):
            raise UserError(
                f"{cell.path} has no gold answers among the labels {', '.join(labels)}",
                "run again in another folder: an older version wrote it, or a file was changed",
            )
        np.add.at(counts, (cell.golds, cell.picked), 1)  # those that name no label are -1, the last column
    return counts


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
class ScoreTree:
    """The scores of a task in one language and prompt language, over prompts.

    Attributes:
        dimensions: what the cells are, but for the prompt.
        levels: the fields, the largest groups first.
        branches: all documents first: micro, and macro if the task declares it; each group is followed by its own.
    """

    task: str
    dimensions: dict[str, Any]
    levels: list[str]
    branches: list[Branch]
    cells: list[CellScores]
    n: int


def parts(cells: list[CellScores], name: str) -> list[ScoreTree]:
    """Returns the scores by a field whose values are in no groups, over the documents that all prompts have.

    Raises:
        UserError: if none declares it, or the samples were stored without their documents.
    """
    trees = []
    for of_place in alike_but_for(with_field(cells, name), "prompt"):
        whole, branches = averaged(of_place), []
        labels = whole.cells[0].fields[name]
        for code in np.unique(labels.codes[labels.codes >= 0]):
            part = whole.take(np.flatnonzero(labels.codes == code))
            if part.is_shown:
                branches.append(Branch({name: labels.names[code]}, part.score, part.interval, len(part.ids)))
        if branches:
            trees.append(ScoreTree(whole.task, whole.dimensions, [name], branches, list(whole.cells), len(whole.ids)))
    return trees


def has_tree(cell: CellScores, name: str) -> bool:
    """Returns whether a field of a cell's task groups another's values, is grouped, or has a macro mean."""
    return name in nested_fields(cell.declared)


def trees(cells: list[CellScores], name: str) -> list[ScoreTree]:
    """Returns the scores of the cells for which `has_tree`, down to a field.

    Raises:
        UserError: if no task declares the field, or the samples were stored without their documents.
    """
    of_places = []
    for of_place in alike_but_for((c for c in with_field(cells, name) if has_tree(c, name)), "prompt"):
        fields, whole = levels(of_place[0].declared, name), averaged(of_place)
        branches = [Branch({}, whole.score, whole.interval, len(whole.ids))]
        if macro := whole.macro:
            branches.append(Branch({}, macro.value, macro.interval, len(whole.ids), macro.n))
        branches += _branches(whole, fields, {}, of_place[0].declared)
        of_places.append(ScoreTree(whole.task, whole.dimensions, fields, branches, of_place, len(whole.ids)))
    return of_places


def outlines(cells: list[CellScores]) -> list[ScoreTree]:
    """Returns the trees to show after a run: whole for a single language and prompt language, else the top level.

    The scores of all documents are in the first ones only.

    Args:
        cells: of one task; fields that they lack, since documents were not stored, are left out.
    """
    all_trees: list[ScoreTree] = []
    declared = cells[0].declared
    for name in smallest(declared):
        of_field = [cell for cell in cells if cell.n and name in cell.fields]
        fields = levels(declared, name)
        shown = fields[0] if len(alike_but_for(of_field, "prompt")) > 1 else _telling(declared, fields)
        of_trees = trees(of_field, shown) if of_field else []
        all_trees += (
            [replace(t, branches=[b for b in t.branches if b.path]) for t in of_trees] if all_trees else of_trees
        )
    return all_trees


def _telling(declared: Declared, fields: list[str]) -> str:
    """Returns the smallest of some fields, or the one above it if that only gives its values other names."""
    *_, above, name = [*fields[:1], *fields]
    groups = declared.get("grouped_fields", {}).get(above)
    return above if groups and all(len(values) == 1 for values in groups["groups"].values()) else name


def _branches(whole: PromptMean, fields: list[str], path: Mapping[str, str], declared: Declared) -> Iterator[Branch]:
    name, *smaller = fields
    labels = whole.cells[0].fields[name]
    order = {value: at for at, value in enumerate(ordered(declared, name))}
    for value in sorted(labels.names, key=lambda value: (order.get(value, len(order)), value)):
        positions = np.flatnonzero(labels.codes == labels.names.index(value))
        part, below = whole.take(positions), {**path, name: value}
        if not part.is_shown:
            continue
        yield Branch(below, part.score, part.interval, len(positions))
        if smaller:
            yield from _branches(part, smaller, below, declared)
