"""Scores by a field of the documents, and which label was taken for which."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from afrieval.analysis.scores import averaged
from afrieval.errors import UserError
from afrieval.grouping import grouped
from afrieval.results.grouped_fields import nested_fields
from afrieval.results.scores import CellScores, Numbers
from afrieval.statistics.intervals import Interval

CONFUSION = "confusion"


@dataclass(frozen=True)
class Part:
    """Scores of the documents with one value of a field, over prompts.

    Attributes:
        dimensions: what the cells are, but for the prompt.
    """

    task: str
    dimensions: dict[str, Any]
    value: str
    score: float
    interval: Interval | None
    n: int


@dataclass(frozen=True)
class Confusion:
    """How often each label was picked where each was right, over prompts.

    Attributes:
        labels: names, in order.
        counts: gold by picked, shape (labels, labels + 1); the last column is of answers that name no label.
    """

    task: str
    dimensions: dict[str, Any]
    labels: list[str]
    counts: Numbers


def parts(cells: list[CellScores], name: str) -> list[Part]:
    """Returns the scores by a field, over the documents that all prompts have.

    Args:
        cells: cells whose task declares the field.
        name: the field's.

    Raises:
        UserError: if none declares it, or the samples were stored without their documents.
    """
    return [
        part for dimensions, of_place in places(with_field(cells, name)) for part in _parts(dimensions, of_place, name)
    ]


def with_field(cells: list[CellScores], name: str) -> list[CellScores]:
    """Returns the cells whose task declares a field to break scores down by; errors are those of `parts`."""
    fitting = [c for c in cells if name in _declared(c)]
    if not fitting:
        known = sorted({field for c in cells for field in _declared(c)})
        known += [CONFUSION] if any(c.declared.get("labels") for c in cells) else []
        raise UserError(f"no task here can be broken down by {name!r}", f"there is: {', '.join(known)}")
    if bare := [c for c in fitting if name not in c.fields]:
        hint = "run with --eval.log_samples true to keep them"
        raise UserError(f"{bare[0].path} has no documents, only scores", hint)
    return fitting


def _declared(cell: CellScores) -> list[str]:
    return [*cell.declared.get("breakdowns", []), *nested_fields(cell.declared)]


def _parts(dimensions: dict[str, Any], cells: list[CellScores], name: str) -> Iterator[Part]:
    whole = averaged(cells)
    labels = whole.cells[0].fields[name]
    for code in np.unique(labels.codes[labels.codes >= 0]):
        part = whole.take(np.flatnonzero(labels.codes == code))
        yield Part(cells[0].task, dimensions, labels.names[code], part.score, part.interval, len(part.ids))


def confusions(cells: list[CellScores]) -> list[Confusion]:
    """Returns a confusion table per language, of tasks with labels.

    Raises:
        UserError: if no task here has labels, or the samples are of an older version.
    """
    found = []
    for dimensions, of_place in places([c for c in cells if c.declared.get("labels")]):
        labels = of_place[0].declared["labels"]
        counts = np.zeros((len(labels), len(labels) + 1), dtype=np.int64)
        for cell in of_place:
            if np.any(cell.n_choices != len(labels)) or np.any(cell.golds < 0):
                raise UserError(
                    f"{cell.path} has no gold answers among the labels {', '.join(labels)}",
                    "run again in another folder: an older version wrote it, or a file was changed",
                )
            np.add.at(counts, (cell.golds, cell.picked), 1)  # those that name no label are -1, the last column
        found.append(Confusion(of_place[0].task, dimensions, labels, counts))
    if not found:
        raise UserError("no task here has labels that can be confused", "leave --by confusion out")
    return found


def places(cells: list[CellScores]) -> Iterator[tuple[dict[str, Any], list[CellScores]]]:
    """Yields what cells of the same task are but for the prompt, with the cells of each prompt."""
    for members in grouped(cells, lambda c: (c.task, *c.but("prompt").items())).values():
        yield members[0].but("prompt"), members
