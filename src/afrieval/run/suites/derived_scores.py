"""The scores of derived metrics of a suite, with intervals, from the samples of a run and of reference runs."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter
from typing import NamedTuple, Union

import numpy as np

from afrieval._util.grouping import grouped
from afrieval.results.cell_scores import CellScores
from afrieval.results.derived import derived_from, names_of
from afrieval.results.document_scores import Numbers
from afrieval.results.schema import DerivedFrom
from afrieval.scoring.base import Array, Derived, Input, Metric
from afrieval.scoring.statistics.intervals import Interval, linear_values
from afrieval.scoring.statistics.tests import SEED, percentile

Declared = Mapping[str, DerivedFrom]
Chosen = dict[str, CellScores]  # task to the cell of it
DIMENSIONS = ("language", "prompt_language", "prompt")


def tasks_of(name: str, declared: Declared) -> list[str]:
    """Returns the tasks whose metrics a derived metric is made of, directly or not."""
    tasks: list[str] = []
    for part in names_of(declared[name]):
        tasks += tasks_of(part, declared) if part in declared else [part.partition(".")[0]]
    return list(dict.fromkeys(tasks))


def references_of(name: str, declared: Declared) -> list[str]:
    """Returns the reference runs that a derived metric needs, directly or not."""
    spec = declared[name]
    below = [known for of in names_of(spec) if of in declared for known in references_of(of, declared)]
    return list(dict.fromkeys([*below, *([reference] if (reference := spec.get("reference")) else [])]))


def selections(tasks: Sequence[str], cells: Sequence[CellScores]) -> list[Chosen]:
    """Returns the sets of cells, one of each task, that have the same language and prompt.

    A task with one language, or one prompt, is in all sets. There is at least one set, which may be empty.
    """
    of_tasks = {task: of for task, of in grouped(cells, lambda c: c.task).items() if task in tasks}
    several = {task: [d for d in DIMENSIONS if len({getattr(c, d) for c in of}) > 1] for task, of in of_tasks.items()}
    sets = []
    for each in grouped((c for of in of_tasks.values() for c in of), attrgetter(*DIMENSIONS)).values():
        fitting = {
            task: [c for c in of if all(getattr(c, d) == getattr(each[0], d) for d in several[task])]
            for task, of in of_tasks.items()
        }
        sets.append({task: of[0] for task, of in fitting.items() if of})
    most = max((len(chosen) for chosen in sets), default=0)
    whole = {tuple(cell.name for cell in chosen.values()): chosen for chosen in sets if len(chosen) == most}
    return list(whole.values()) or [{}]


Find = Callable[[CellScores], CellScores | None]  # from a cell of a run to that cell of a reference run


class Absent(Exception):
    """A derived metric cannot be computed: something that it is made of is missing."""


class MetricNode(NamedTuple):
    """A metric of the documents of a cell.

    Attributes:
        measures: of the documents that have it, shape (n, k).
        documents: what they are rows of; parts with the same one share documents.
        ids: their rows, ascending, shape (n,).
        unmatched: what to say of documents that cannot be matched with the run's; empty if they can.
    """

    metric: Metric
    measures: Array
    documents: str
    ids: Numbers
    unmatched: str = ""


class Node(NamedTuple):
    """A derived metric, with the metrics that it is computed from, in order."""

    how: Derived
    inputs: Sequence[Union[MetricNode, "Node"]]

    @property
    def parts(self) -> Iterator[MetricNode]:
        """All metrics of documents that it is made of, directly or not."""
        for each in self.inputs:
            yield from [each] if isinstance(each, MetricNode) else each.parts

    @property
    def bounds(self) -> tuple[float, float]:
        """The lowest and the highest score."""
        if self.how.bounds:
            return self.how.bounds
        lows, highs = zip(
            *(p.metric.bounds if isinstance(p, MetricNode) else p.bounds for p in self.inputs), strict=True
        )
        return min(lows), max(highs)

    @property
    def has_interval(self) -> bool:
        """Whether an interval makes sense."""
        of_parts = (p.metric.interval != "none" if isinstance(p, MetricNode) else p.has_interval for p in self.inputs)
        return self.how.interval != "none" and all(of_parts)


def node(name: str, declared: Declared, chosen: Chosen, references: Mapping[str, Find], side: str = "") -> Node:
    """Returns the tree of a derived metric: the metrics that it is computed from, down to those of documents.

    Args:
        name: the derived metric.
        declared: name to how it is computed.
        chosen: task to the cell of the run.
        references: name to what finds the cells of that run.
        side: name of the reference run whose metrics are wanted; empty for the run's own.

    Raises:
        Absent: if something that it is made of is not there.
    """
    spec = declared[name]
    reference = spec.get("reference")
    if reference and reference not in references:
        raise Absent(f"it needs --reference {reference}=RUN")
    inputs: list[MetricNode | Node] = []
    rest = {of: other for of, other in declared.items() if of != name}  # a file that was changed may lead in a circle
    for of_side in [side, *([reference] if reference else [])]:
        for part in names_of(spec):
            below = node(part, rest, chosen, references, of_side) if part in rest else None
            inputs.append(below or _part(part, chosen, references, of_side))
    how = derived_from(name, spec, len(inputs))
    if how.needs == "pairs":
        leaves = [leaf for leaf in inputs if isinstance(leaf, MetricNode)]
        half = len(leaves) // 2  # the run's come first, then the reference run's
        for leaf, other in zip(leaves[:half], leaves[half:], strict=True):
            if leaf.documents != other.documents or not np.array_equal(leaf.ids, other.ids):
                raise Absent("the reference run has other documents")
    return Node(how, inputs)


def _part(full_name: str, chosen: Chosen, references: Mapping[str, Find], side: str) -> MetricNode:
    task, _, name = full_name.partition(".")
    if (run_cell := chosen.get(task)) is None:
        raise Absent(f"{task} was not run")
    cell = references[side](run_cell) if side else run_cell
    whose = f"the reference {side}" if side else "the run"
    if cell is None:
        raise Absent(f"{whose} has no {task}")
    if name not in cell.metrics:
        raise Absent(f"{whose} has no {full_name}")
    measures = cell.measures[name]
    has_metric = ~np.isnan(measures).all(axis=1)
    if not has_metric.any():
        raise Absent(f"{whose} has no document with {full_name}")
    same = np.array_equal(cell.ids, run_cell.ids)
    documents = str(run_cell.comparable_on.get("data") or run_cell.task)
    says = "" if same else f"{whose} has {cell.n:,} documents of {task}, this run {run_cell.n:,}; they are not matched"
    return MetricNode(
        cell.metrics[name],
        measures[has_metric],
        documents if same else f"{documents} {side}",
        cell.ids[has_metric],
        says,
    )


@dataclass(frozen=True)
class DerivedScore:
    """A derived metric of a run.

    Attributes:
        cells: the cells that it is made of, by task.
        score: None if it is absent.
        n: number of documents; a reference run's count only if they are others.
        reason: why it is absent; empty if it is not.
    """

    name: str
    how: str
    model: str
    cells: Chosen
    references: Sequence[str]
    score: float | None = None
    interval: Interval | None = None
    n: int = 0
    bounds: tuple[float, float] = (0.0, 1.0)
    reason: str = ""
    notes: Sequence[str] = ()


def derived_scores(
    declared: Declared, cells: Sequence[CellScores], references: Mapping[str, Find]
) -> list[DerivedScore]:
    """Returns each derived metric of a run, once for each language and prompt."""
    model = next((cell.model for cell in cells), "")
    scores = []
    for name, spec in declared.items():
        for chosen in selections(tasks_of(name, declared), cells):
            empty = DerivedScore(name, spec["how"], model, chosen, references_of(name, declared))
            try:
                scores.append(_scored(empty, node(name, declared, chosen, references)))
            except Absent as why:
                scores.append(replace(empty, reason=str(why)))
    return scores


def _scored(empty: DerivedScore, root: Node) -> DerivedScore:
    """Returns the score and its interval.

    Documents of one data set are drawn together, however many tasks and runs have them; data sets are drawn
    independently.
    """
    parts, sizes = list(root.parts), list[int]()
    rows: dict[int, Numbers] = {}  # of the documents of each part among those of all
    for numbers in grouped(range(len(parts)), lambda i: parts[i].documents).values():
        union = np.unique(np.concatenate([parts[i].ids for i in numbers]))
        rows |= {i: sum(sizes) + np.searchsorted(union, parts[i].ids) for i in numbers}
        sizes.append(len(union))
    take = _input(root, (rows[i] for i in range(len(parts))))

    def statistic(weights: Array) -> Array:
        return take(weights).scores

    score = float(statistic(np.ones((1, sum(sizes))))[0])
    if math.isnan(score):
        return replace(empty, reason="it is not defined: a denominator is 0")
    interval = percentile(statistic, sizes, np.random.default_rng(SEED)) if root.has_interval else None
    notes = dict.fromkeys(note for note in [root.how.remark(score), *(p.unmatched for p in parts)] if note)
    return replace(empty, score=score, interval=interval, n=sum(sizes), bounds=root.bounds, notes=list(notes))


def _input(part: MetricNode | Node, rows: Iterator[Numbers]) -> Callable[[Array], Input]:
    """Returns a function from weights of all documents to the input of a derived metric."""
    if isinstance(part, MetricNode):
        columns, values = next(rows), linear_values(part.metric, part.measures)

        def measured(weights: Array) -> Input:
            drawn = weights[:, columns]
            return Input(part.metric.score(part.measures, drawn), values, drawn, part.measures)

        return measured
    below = [_input(each, rows) for each in part.inputs]

    def computed(weights: Array) -> Input:
        none = np.zeros((len(weights), 0))
        return Input(part.how.score([take(weights) for take in below]), none[0], none, none.T)

    return computed
