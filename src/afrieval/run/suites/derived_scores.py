"""The scores of derived metrics of a suite, with intervals, from the samples of a run and of reference runs."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter
from typing import NamedTuple

import numpy as np

from afrieval._util.grouping import grouped
from afrieval.results.cell_scores import CellScores
from afrieval.results.derived import derived_from, derived_metric, names_of
from afrieval.results.document_columns import Numbers
from afrieval.results.schema import DerivedFrom
from afrieval.scoring.base import Array, Metric
from afrieval.scoring.derived import derived
from afrieval.scoring.statistics.intervals import Interval
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


class MeasuredPart(NamedTuple):
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


Side = tuple[str, str]  # a metric, and the reference run that it is of; empty for the run itself


def _inputs_of(name: str, side: str, declared: Declared) -> tuple[list[Side], Declared]:
    """Returns what a derived metric is computed from, the run's first, and the other derived metrics."""
    spec = declared[name]
    rest = {of: other for of, other in declared.items() if of != name}  # a file that was changed may lead in a circle
    sides = [side, *([reference] if (reference := spec.get("reference")) else [])]
    return [(part, of_side) for of_side in sides for part in names_of(spec)], rest


def _parts(
    name: str, declared: Declared, chosen: Chosen, references: Mapping[str, Find], side: str = ""
) -> dict[Side, MeasuredPart]:
    """Returns the metrics of documents that a derived metric is made of, directly or not.

    Args:
        name: the derived metric.
        declared: name to how it is computed.
        chosen: task to the cell of the run.
        references: name to what finds the cells of that run.
        side: name of the reference run whose metrics are wanted; empty for the run's own.

    Raises:
        Absent: if something that it is made of is not there.
    """
    reference = declared[name].get("reference")
    if reference and reference not in references:
        raise Absent(f"it needs --reference {reference}=RUN")
    parts: dict[Side, MeasuredPart] = {}
    inputs, rest = _inputs_of(name, side, declared)
    for part, of_side in inputs:
        if part in rest:
            parts |= _parts(part, rest, chosen, references, of_side)
        else:
            parts[part, of_side] = _part(part, chosen, references, of_side)
    if derived_from(name, declared[name], len(inputs)).needs == "pairs":
        leaves = [parts[leaf] for leaf in inputs if leaf[0] not in rest]
        half = len(leaves) // 2  # the run's come first, then the reference run's
        for leaf, other in zip(leaves[:half], leaves[half:], strict=True):
            if leaf.documents != other.documents or not np.array_equal(leaf.ids, other.ids):
                raise Absent("the reference run has other documents")
    return parts


def _combined(
    name: str, declared: Declared, parts: Mapping[Side, tuple[Metric, Array]], side: str = ""
) -> tuple[Metric, Array]:
    """Returns a derived metric with its measures of all documents; without an interval if one of its parts has none."""
    inputs, rest = _inputs_of(name, side, declared)
    below = [_combined(part, rest, parts, of) if part in rest else parts[part, of] for part, of in inputs]
    metric, measures = derived_metric(derived_from(name, declared[name], len(inputs)), below, lean=True)
    return replace(metric, interval="none") if any(of.interval == "none" for of, _ in below) else metric, measures


def _part(full_name: str, chosen: Chosen, references: Mapping[str, Find], side: str) -> MeasuredPart:
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
    return MeasuredPart(
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
                scores.append(_scored(empty, declared, _parts(name, declared, chosen, references)))
            except Absent as why:
                scores.append(replace(empty, reason=str(why)))
    return scores


def _scored(empty: DerivedScore, declared: Declared, parts: Mapping[Side, MeasuredPart]) -> DerivedScore:
    """Returns the score and its interval.

    Documents of one data set are drawn together, however many tasks and runs have them; data sets are drawn
    independently.
    """
    of_data = grouped(parts.values(), lambda part: part.documents)
    unions = {data: np.unique(np.concatenate([part.ids for part in of])) for data, of in of_data.items()}
    sizes = [len(union) for union in unions.values()]
    starts = dict(zip(unions, np.cumsum([0, *sizes]).tolist(), strict=False))
    stacked = {}
    for side, part in parts.items():
        measures = np.full((sum(sizes), part.measures.shape[1]), np.nan)
        measures[starts[part.documents] + np.searchsorted(unions[part.documents], part.ids)] = part.measures
        stacked[side] = part.metric, measures
    metric, whole = _combined(empty.name, declared, stacked)

    def statistic(weights: Array) -> Array:
        return metric.score(whole, weights)

    score = float(statistic(np.ones((1, sum(sizes))))[0])
    if math.isnan(score):
        return replace(empty, reason="it is not defined: a denominator is 0")
    interval = percentile(statistic, sizes, np.random.default_rng(SEED)) if metric.interval != "none" else None
    remark = derived(empty.name, empty.how).remark(score)
    notes = dict.fromkeys(note for note in [remark, *(part.unmatched for part in parts.values())] if note)
    return replace(empty, score=score, interval=interval, n=sum(sizes), bounds=metric.bounds, notes=list(notes))
