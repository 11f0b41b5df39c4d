"""What the documents of a cell scored, and the numbers that follow from it, whatever the task."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any, Self
from weakref import WeakValueDictionary

import numpy as np
from numpy.typing import NDArray

from afrieval.scoring.base import Metric
from afrieval.scoring.statistics.intervals import (
    LEVEL,
    Interval,
    IntervalEstimate,
    linear_values,
    normal_quantile,
    standard_error,
)
from afrieval.scoring.statistics.score_intervals import macro, score_interval

Values = NDArray[np.float64]
Numbers = NDArray[np.int64]
NONE: Numbers = np.zeros(0, dtype=np.int64)


@dataclass(frozen=True)
class Labels:
    """A text per document, such as its subject.

    Attributes:
        codes: place of each document's text in `names`, shape (n,); -1 where it has none.
        names: the texts, in the order in which they occur.
    """

    codes: Numbers
    names: tuple[str, ...]


def whole(value: object) -> int:
    """Returns a whole number; -1 for anything else."""
    return value if isinstance(value, int) and not isinstance(value, bool) else -1


@dataclass(frozen=True, kw_only=True)
class DocumentScores:
    """The scores of the documents of a cell.

    All arrays but `defects` are over the documents that were scored. A field with `read` is a number that it takes
    from each line.

    Attributes:
        metrics: the main one first.
        measures: metric to its numbers by document, shape (n, k); NaN where it could not be measured, or is not of the
            group.
        ids: row of each document, ascending, shape (n,).
        golds: right choices, shape (n,); -1 where there are none.
        picked: choices that the model took, shape (n,); -1 for none.
        n_choices: shape (n,); 0 where there are none.
        defects: rows with a defect, scored or not.
        keys: a number for each document that is the same for the same question in every language, shape (n,); None in
            tasks that declare no key.
        verdicts: whether the published answer was right, shape (n,); NaN where the data do not tell. None in tasks
            without.
        parts: the part of the benchmark that each document is of; None in tasks that declare none.
        fields: what scores can be broken down by, as far as documents were stored.
        request_hashes: hashes of what was sent to the model, by document; empty unless it was asked for.
        of_groups: metrics over the documents of a group, as GROUP.METRIC.
        derived: derived metric to the metrics that it is made of.
        contrast: the metric that compares prompt languages; empty if it is the cell's score.
        looks: how many times its score was to be looked at while its sample grew; all intervals hold at once.
    """

    metrics: Mapping[str, Metric] = field(default_factory=dict)
    measures: Mapping[str, Values] = field(default_factory=dict)
    ids: Numbers = field(default_factory=NONE.copy, metadata={"read": lambda line: line["doc_id"]})
    golds: Numbers = field(default_factory=NONE.copy, metadata={"read": lambda line: whole(line.get("gold"))})
    picked: Numbers = field(default_factory=NONE.copy, metadata={"read": lambda line: whole(line.get("picked"))})
    n_choices: Numbers = field(default_factory=NONE.copy, metadata={"read": lambda line: line["n_choices"] or 0})
    defects: Numbers = field(default_factory=NONE.copy)
    keys: Numbers | None = None
    verdicts: Values | None = None
    parts: Labels | None = None
    fields: Mapping[str, Labels] = field(default_factory=dict)
    request_hashes: Mapping[str, Numbers] = field(default_factory=dict)
    of_groups: frozenset[str] = frozenset()
    derived: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    contrast: str = ""
    looks: int = 1

    @property
    def main(self) -> str:
        """The metric that is the cell's score."""
        return next(iter(self.metrics))

    @property
    def metric(self) -> Metric:
        """The main metric as a `Metric`."""
        return self.metrics[self.main]

    @property
    def of_derived(self) -> list[str]:
        """The derived metrics, and the metrics that they are made of."""
        parts = {name for of in self.derived.values() for name in of}
        return [name for name in self.metrics if name in parts or name in self.derived]

    @property
    def n(self) -> int:
        """Documents scored."""
        return len(self.ids)

    @property
    def n_defect(self) -> int:
        """Documents with a defect, scored or left out."""
        return len(self.defects)

    @property
    def chance(self) -> float:
        """Expected score of a guess; NaN where nothing can be guessed."""
        return float(np.mean(1 / np.where(self.n_choices > 0, self.n_choices, np.nan))) if self.n else np.nan

    @property
    def is_accuracy(self) -> bool:
        """Whether its score is the share of documents for which the right choice was taken."""
        metric = self.metric
        of_shares = metric.is_mean and metric.bounds == (0.0, 1.0) and metric.higher_is_better
        return of_shares and self.n > 0 and bool((self.n_choices > 0).all() and (self.golds >= 0).all())

    @cached_property
    def values(self) -> Values:
        """A number per document whose mean is the score; for means of single measures, the documents' own scores."""
        return linear_values(self.metric, self.measures[self.main])

    @property
    def score(self) -> float:
        """The main metric's score."""
        return float(self.values.mean())

    @property
    def standard_error(self) -> float:
        """The score's standard error; NaN for a single document, and where nothing shows how sure the score is."""
        return math.nan if self.metric.interval == "none" else standard_error(self.values)

    @property
    def z(self) -> float:
        """The normal quantile of its intervals: each look has a share of the level (Bonferroni)."""
        return normal_quantile(LEVEL / self.looks)

    @cached_property
    def interval(self) -> Interval | None:
        """The score's 95 % interval, for all looks together; None if there is none, or nothing shows how sure it is."""
        return score_interval(self.metric, [self.measures[self.main]], z=self.z)

    @property
    def macro(self) -> IntervalEstimate | None:
        """The mean over parts; None in tasks that declare none."""
        if self.parts is None or not self.metric.is_mean:
            return None
        return macro(self.values, self.parts.codes, self.z)

    def with_metric(self, metric: str) -> Self:
        """Returns the cell with another metric as its score, over the documents that have it."""
        if metric == self.main:
            return self
        order = {metric: self.metrics[metric], **self.metrics}
        measured = np.flatnonzero(~np.isnan(self.measures[metric]).all(axis=1))
        return replace(self if len(measured) == self.n else self.take(measured), metrics=order)

    def take(self, indices: Numbers) -> Self:
        """Returns the cell with some of its documents, in the order given."""

        def some(labels: Labels) -> Labels:
            return replace(labels, codes=labels.codes[indices])

        return replace(
            self,
            **{name: getattr(self, name)[indices] for name in OF_LINES},
            measures={name: values[indices] for name, values in self.measures.items()},
            keys=None if self.keys is None else self.keys[indices],
            verdicts=None if self.verdicts is None else self.verdicts[indices],
            parts=self.parts and some(self.parts),
            fields={name: some(labels) for name, labels in self.fields.items()},
            request_hashes={name: hashes[indices] for name, hashes in self.request_hashes.items()},
        )


OF_LINES = {of.name: of.metadata["read"] for of in fields(DocumentScores) if of.metadata}  # field to what reads it
Key = tuple[str, tuple[int, ...], int]
_arrays: WeakValueDictionary[Key, NDArray[Any]] = WeakValueDictionary()


def shared(array: NDArray[Any]) -> NDArray[Any]:
    """Returns an array that is equal to the bit and read-only: the one of an earlier call if there was one.

    Of 20 models on the same questions, only what each answered then takes memory.
    """
    content = array.tobytes()
    key = array.dtype.str, array.shape, hash(content)
    earlier = _arrays.get(key)
    if earlier is not None and earlier.tobytes() == content:
        return earlier
    frozen = array if array.base is None else array.copy()  # a view would keep all that it is a part of
    frozen.flags.writeable = False
    _arrays[key] = frozen
    return frozen
