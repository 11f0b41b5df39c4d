"""What a derived metric of a suite is made of: metrics of documents, and other derived metrics."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple, Union

import numpy as np

from afrieval.results.derived import names_of
from afrieval.results.scores import CellScores, Numbers
from afrieval.scoring.base import Array, Derived, Metric
from afrieval.scoring.derived import derived
from afrieval.suites.places import Chosen, Declared

Find = Callable[[CellScores], CellScores | None]  # the cell of a reference run that is that of a run


class Absent(Exception):
    """Why a derived metric cannot be computed."""


class Part(NamedTuple):
    """A metric of the documents of a cell.

    Attributes:
        measures: of the documents that have it, shape (n, k).
        documents: what they are rows of; parts with the same one share documents.
        ids: their rows, ascending, shape (n,).
        unmatched: what to say of documents that cannot be matched with those of the run; empty if they can.
    """

    metric: Metric
    measures: Array
    documents: str
    ids: Numbers
    unmatched: str = ""


class Node(NamedTuple):
    """A derived metric, and what it is made of, in order."""

    how: Derived
    of: Sequence[Union[Part, "Node"]]

    @property
    def parts(self) -> Iterator[Part]:
        """All metrics of documents that it is made of, directly or not."""
        for each in self.of:
            yield from [each] if isinstance(each, Part) else each.parts

    @property
    def bounds(self) -> tuple[float, float]:
        """The lowest and the highest score."""
        if self.how.bounds:
            return self.how.bounds
        lows, highs = zip(*(p.metric.bounds if isinstance(p, Part) else p.bounds for p in self.of), strict=True)
        return min(lows), max(highs)

    @property
    def has_interval(self) -> bool:
        """Whether an interval makes sense."""
        of_parts = (p.metric.interval != "none" if isinstance(p, Part) else p.has_interval for p in self.of)
        return self.how.interval != "none" and all(of_parts)


def node(name: str, declared: Declared, chosen: Chosen, references: Mapping[str, Find], side: str = "") -> Node:
    """Returns what a derived metric is made of.

    Args:
        name: the derived metric.
        declared: name to how it is computed.
        chosen: task to the cell of the run.
        references: name to what finds the cells of that run.
        side: name of the reference run whose metrics are wanted; empty for those of the run.

    Raises:
        Absent: if something that it is made of is not there.
    """
    spec = declared[name]
    reference = spec.get("reference")
    if reference and reference not in references:
        raise Absent(f"it needs --reference {reference}=RUN")
    found: list[Part | Node] = []
    for of_side in [side, *([reference] if reference else [])]:
        for of in names_of(spec):
            below = node(of, declared, chosen, references, of_side) if of in declared else None
            found.append(below or _part(of, chosen, references, of_side))
    how = derived(name, spec["how"])
    if how.needs == "pairs":
        _check_pairs(found)
    return Node(how, found)


def _part(of: str, chosen: Chosen, references: Mapping[str, Find], side: str) -> Part:
    task, _, name = of.partition(".")
    if (own := chosen.get(task)) is None:
        raise Absent(f"{task} was not run")
    cell = references[side](own) if side else own
    whose = f"the reference {side}" if side else "the run"
    if cell is None:
        raise Absent(f"{whose} has no {task}")
    if name not in cell.metrics:
        raise Absent(f"{whose} has no {of}")
    measures = cell.measures[name]
    there = ~np.isnan(measures).all(axis=1)
    if not there.any():
        raise Absent(f"{whose} has no document with {of}")
    same = np.array_equal(cell.ids, own.ids)
    documents = str(own.must.get("data") or own.task)
    says = "" if same else f"{whose} has {cell.n:,} documents of {task}, this run {own.n:,}; they are not matched"
    return Part(
        cell.metrics[name], measures[there], documents if same else f"{documents} {side}", cell.ids[there], says
    )


def _check_pairs(found: Sequence[Part | Node]) -> None:
    """Refuses metrics whose documents are not the same in the run and in the reference run."""
    parts = [p for p in found if isinstance(p, Part)]
    half = len(parts) // 2
    for own, other in zip(parts[:half], parts[half:], strict=True):
        if own.documents != other.documents or not np.array_equal(own.ids, other.ids):
            raise Absent("the reference run has other documents")
