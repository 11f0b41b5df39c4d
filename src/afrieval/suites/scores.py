"""The scores of derived metrics of a suite, with intervals, from the samples of a run and of reference runs."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from afrieval.grouping import grouped
from afrieval.results.scores import CellScores, Numbers
from afrieval.scoring.base import Array, Input
from afrieval.statistics.influence import linear_values
from afrieval.statistics.intervals import Interval
from afrieval.statistics.resampling import SEED, percentile
from afrieval.suites.nodes import Absent, Find, Node, Part, node
from afrieval.suites.places import Chosen, Declared, references_of, selections, tasks_of


@dataclass(frozen=True)
class DerivedScore:
    """A derived metric of a run.

    Attributes:
        model: what the model is called.
        cells: the cells that it is made of, by task.
        references: the reference runs that it needs.
        score: None if it is absent.
        n: number of documents; those of reference runs count only if they are others.
        reason: why it is absent; empty if it is not.
        notes: what has to be known to read it.
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
    """Returns each derived metric of a run, once for each language and prompt.

    Args:
        declared: name to how it is computed, in order.
        cells: all of the run.
        references: name to what finds the cells of that run.
    """
    model = next((cell.model for cell in cells), "")
    found = []
    for name, spec in declared.items():
        for chosen in selections(tasks_of(name, declared), cells):
            empty = DerivedScore(name, spec["how"], model, chosen, references_of(name, declared))
            try:
                found.append(_scored(empty, node(name, declared, chosen, references)))
            except Absent as why:
                found.append(replace(empty, reason=str(why)))
    return found


def _scored(empty: DerivedScore, of: Node) -> DerivedScore:
    """Returns the score and its interval.

    Documents of one data set are drawn together, however many tasks and runs have them; those of different
    data sets are drawn independently.
    """
    parts = list(of.parts)
    sizes, places = _stacked(parts)
    take = _input(of, iter(places))

    def statistic(weights: Array) -> Array:
        return take(weights).scores

    score = float(statistic(np.ones((1, sum(sizes))))[0])
    if math.isnan(score):
        return replace(empty, reason="it is not defined: a denominator is 0")
    interval = percentile(statistic, sizes, np.random.default_rng(SEED)) if of.has_interval else None
    notes = dict.fromkeys(note for note in [of.how.remark(score), *(p.unmatched for p in parts)] if note)
    return replace(empty, score=score, interval=interval, n=sum(sizes), bounds=of.bounds, notes=list(notes))


def _stacked(parts: Sequence[Part]) -> tuple[list[int], list[Numbers]]:
    """Returns the number of documents of each data set, and the places of each part's among all of them."""
    sizes: list[int] = []
    places: dict[int, Numbers] = {}
    for numbers in grouped(range(len(parts)), lambda i: parts[i].documents).values():
        union = np.unique(np.concatenate([parts[i].ids for i in numbers]))
        places |= {i: sum(sizes) + np.searchsorted(union, parts[i].ids) for i in numbers}
        sizes.append(len(union))
    return sizes, [places[i] for i in range(len(parts))]


def _input(of: Part | Node, places: Iterator[Numbers]) -> Callable[[Array], Input]:
    """Returns what makes the input of a derived metric from weights of all documents."""
    if isinstance(of, Part):
        place, values = next(places), linear_values(of.metric, of.measures)

        def measured(weights: Array) -> Input:
            own = weights[:, place]
            return Input(of.metric.score(of.measures, own), values, own, of.measures)

        return measured
    below = [_input(each, places) for each in of.of]

    def computed(weights: Array) -> Input:
        none = np.zeros((len(weights), 0))
        return Input(of.how.score([take(weights) for take in below]), none[0], none, none.T)

    return computed
