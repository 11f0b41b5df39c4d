"""Scores of parts within parts as a table: each group is followed by its own, indented."""

from collections.abc import Mapping, Sequence
from typing import Any

from afrieval.analysis.trees import Branch, Tree
from afrieval.grouping import grouped
from afrieval.report import published_parts
from afrieval.report.dimensions import column_of, named, varying
from afrieval.report.scores import INTERVAL
from afrieval.report.table import Column, Table
from afrieval.report.values import bounds_of, titled
from afrieval.scoring.base import Metric

MICRO, MACRO = "micro", "macro"


def tree_tables(found: list[Tree], metrics: Mapping[str, Metric], published: Sequence[str] = ()) -> list[Table]:
    """Returns a table per task and field.

    Args:
        found: scores; languages and prompt languages of one task stand in one table.
        metrics: each task's main metric.
        published: names of published scores to show; if empty, those of the same model are shown.
    """
    of_fields = grouped(found, lambda tree: (tree.task, *tree.levels))
    return [_table(trees, metrics.get(task), published) for (task, *_), trees in of_fields.items()]


def _table(trees: list[Tree], metric: Metric | None, published: Sequence[str]) -> Table:
    first, bounds, others = trees[0], bounds_of(metric), published_parts.chosen(trees, published)
    dimensions = [tree.dimensions for tree in trees]
    places = [place for place in varying(dimensions) if len({each[place] for each in dimensions}) > 1]
    columns = [*map(column_of, places), Column(", ".join(first.levels), "branch", "-")]
    columns += [Column("score", "score", "", bounds), Column(INTERVAL, "interval", "interval", bounds)]
    columns += [Column("n", "count"), *published_parts.columns(others)]
    columns += [Column("", "hidden", key) for key in ("average", *first.levels)]
    rows: list[list[Any]] = []
    ends: list[int] = []
    for tree, of_tree in zip(trees, others, strict=True):
        ends += [len(rows) + at - 1 for at in _tops(tree)]
        place = [named(tree.dimensions, dimension) for dimension in places]
        beside = (published_parts.cells(branch, of_tree, others) for branch in tree.branches)
        rows += [[*place, *_row(b, tree.levels, cells)] for b, cells in zip(tree.branches, beside, strict=True)]
    about = {"task": first.task, "field": first.levels[-1]}
    title = f"{titled(first.task, metric)}: by {first.levels[-1]}"
    notes = [*_notes(trees), *published_parts.notes(trees, others)]
    return Table("breakdown", title, columns, rows, notes, about=about, ends=[at for at in ends if at >= 0])


def _tops(tree: Tree) -> list[int]:
    """Returns the rows of a tree that a blank line stands above."""
    return [at for at, branch in enumerate(tree.branches) if at == 0 or (len(branch.path) == 1 < len(tree.levels))]


def _row(branch: Branch, levels: list[str], beside: list[Any]) -> list[Any]:
    average = None if branch.path else MACRO if branch.parts else MICRO
    names = [*branch.path.values()] or [f"{MACRO}, mean of {branch.parts}" if branch.parts else MICRO]
    shown = len(names) - 1, names[-1]
    values = [branch.path.get(name) for name in levels]
    return [shown, branch.score, branch.interval, branch.n, *beside, average, *values]


def _notes(trees: list[Tree]) -> list[str]:
    macro = trees[0].cells[0].declared.get("macro")
    if not any(branch.parts for tree in trees for branch in tree.branches):
        return []
    return [f"micro: all questions have the same weight, also within a group; macro: each {macro} has."]
