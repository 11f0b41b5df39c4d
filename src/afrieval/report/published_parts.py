"""Columns with published scores next to those of a run, for groups such as MMLU's subjects."""

from collections.abc import Sequence
from typing import Any

from afrieval.analysis.published_parts import differing, published_for
from afrieval.analysis.trees import Branch, Tree
from afrieval.report.scores import INTERVAL
from afrieval.report.table import Column
from afrieval.tasks.published import PublishedScores

Chosen = list[dict[str, PublishedScores]]  # of each tree, by name


def chosen(trees: Sequence[Tree], names: Sequence[str]) -> Chosen:
    """Returns the published scores to show with each tree; arguments as for `published_for`."""
    return [published_for(tree, names) for tree in trees]


def _names(found: Chosen) -> list[str]:
    return list(dict.fromkeys(name for of_tree in found for name in of_tree))


def columns(found: Chosen) -> list[Column]:
    """Returns the columns of published scores: score, difference, and whether the run's interval includes it.

    Of several published scores, people see the scores alone, for which there is room.
    """
    names = _names(found)
    if len(names) == 1:
        return _columns(names[0], ("publ.", "score"), ("diff.", "change"), ("in CI", "text"))
    return [column for name in names for column in _columns(name, (name, "score"), ("", "hidden"), ("", "hidden"))]


def _columns(name: str, *shown: tuple[str, str]) -> list[Column]:
    keys = ("published", "difference", "in interval")
    return [Column(head, form, f"{key} {name}") for key, (head, form) in zip(keys, shown, strict=True)]


def cells(branch: Branch, of_tree: dict[str, PublishedScores], found: Chosen) -> list[Any]:
    """Returns the cells of a branch in these columns; empty where nothing is published."""
    return [cell for name in _names(found) for cell in _cells(branch, of_tree.get(name))]


def _cells(branch: Branch, scores: PublishedScores | None) -> list[Any]:
    published = scores.score(dict(branch.path)) if scores and branch.parts is None else None
    if published is None:
        return [None, None, None]
    low, high = branch.interval or (published, published)
    return [published, branch.score - published, "yes" if low <= published <= high else "no"]


def notes(trees: Sequence[Tree], found: Chosen) -> list[str]:
    """Returns whose scores the published ones are, how they were measured, and what differs in the run."""
    names = _names(found)
    if not names:
        return []
    said = []
    for name in names:
        shown = [(tree, of_tree[name]) for tree, of_tree in zip(trees, found, strict=True) if name in of_tree]
        scores = shown[0][1]
        doubt = f"; {scores.doubt}" if scores.doubt else ""
        what = f"publ.: published scores of {name}" if len(names) == 1 else f"{name}, published"
        said.append(f"{what}: {scores.setting} ({scores.source}{doubt}).")
        if differs := dict.fromkeys(words for tree, of in shown for words in differing(tree, of)):
            said.append(f"Different here: {', '.join(differs)}.")
    if len(names) > 1:
        return said
    return [*said, f"in CI: whether the {INTERVAL} of this run's score includes the published one, which has its own."]
