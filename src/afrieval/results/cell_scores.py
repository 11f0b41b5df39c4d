"""The one table of scores: what a cell's sample file says in numbers, whatever the task."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from operator import itemgetter, methodcaller
from pathlib import Path
from typing import NamedTuple, Self

import numpy as np

from afrieval.results.cell_key import CellKey
from afrieval.results.document_columns import NONE, Labels, Numbers, SampleColumn, Values, whole_number
from afrieval.results.identity import ALL, Selection
from afrieval.results.schema import Declared, HarnessRecord
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

ACCURACY, BALANCED = "acc", "balanced"  # metrics of baselines
DIMENSIONS = ("prompt_language", "prompt", "model", "shots", "answer_form", "language")  # what can be compared
KEPT_APART = ("prompt_set", *DIMENSIONS)  # the sets share no prompt


# What is kept of each line, in the field of `CellScores` that has it as its column.
ROW = SampleColumn("doc_id", "whole", "row in the data set", itemgetter("doc_id"))
GOLD = SampleColumn("gold", "whole", "right choice, counted from 0", whole_number("gold"))
PICKED = SampleColumn("picked", "whole", "chosen choice, counted from 0", whole_number("picked"))
N_CHOICES = SampleColumn("n_choices", "whole", "", lambda line: line["n_choices"] or 0)
VERDICT = SampleColumn("published_correct", "truth", "", methodcaller("get", "published_correct"))


class MetricCount(NamedTuple):
    """How many documents of a task of the harness have a metric under a filter; and a 1, if all have 0 or 1."""

    n: int
    right: float | None


@dataclass(frozen=True, kw_only=True)
class CellScores(CellKey):
    """The scores of a cell: the key that names it, what its documents scored, and where that comes from.

    All arrays but `defects` are over the documents that were scored. A field with a column is read from each line.

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
        verdicts: whether the published answer was right, shape (n,); NaN where the data do not tell.
        parts: the part of the benchmark that each document is of; None in tasks that declare none.
        fields: what scores can be broken down by, as far as documents were stored.
        request_hashes: hashes of what was sent to the model, by document; empty unless it was asked for.
        of_groups: metrics over the documents of a group, as GROUP.METRIC.
        derived: derived metric to the metrics that it is made of.
        contrast: the metric that compares prompt languages; empty if it is the cell's score.
        looks: how many times its score was to be looked at while its sample grew; all intervals hold at once.
        name: the cell's, as its sample file has it.
        model: what the model is called here; empty until runs are read together.
        rows: all rows of the cell, scored or not.
        selection: which rows of the test set these are.
        comparable_on: what has to be the same on both sides of a comparison, by name for people.
        recorded_settings: settings that may differ, and are named if they do.
        lengths: of the label words, in tokens or else in characters; empty if rows have their own choices, or answers
            were generated.
        kept_shares: of each prompt that was shortened to fit the model's context, the share of its text that was kept.
        fewer_examples: of each prompt with fewer examples than asked for, their number.
        usage: what answers took, as `results.usage` names it; empty if their backend does not tell.
        declared: what run.yaml says of the task.
        suite: name of the suite that was run; empty without one.
        suite_groups: its tasks by group.
        path: the sample file.
        harness: what the harness says of a task of its own; there are no measures.
        harness_counts: of each of its metrics.
    """

    metrics: Mapping[str, Metric] = field(default_factory=dict)
    measures: Mapping[str, Values] = field(default_factory=dict)
    ids: Numbers = field(default_factory=NONE.copy, metadata={"column": ROW})
    golds: Numbers = field(default_factory=NONE.copy, metadata={"column": GOLD})
    picked: Numbers = field(default_factory=NONE.copy, metadata={"column": PICKED})
    n_choices: Numbers = field(default_factory=NONE.copy, metadata={"column": N_CHOICES})
    verdicts: Values = field(default_factory=lambda: np.zeros(0), metadata={"column": VERDICT})
    defects: Numbers = field(default_factory=NONE.copy)
    keys: Numbers | None = None
    parts: Labels | None = None
    fields: Mapping[str, Labels] = field(default_factory=dict)
    request_hashes: Mapping[str, Numbers] = field(default_factory=dict)
    of_groups: frozenset[str] = frozenset()
    derived: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    contrast: str = ""
    looks: int = 1
    name: str
    rows: int = 0
    selection: Selection = ALL
    model: str = ""
    comparable_on: Mapping[str, object] = field(default_factory=dict)
    recorded_settings: Mapping[str, object] = field(default_factory=dict)
    lengths: tuple[int, ...] = ()
    kept_shares: tuple[float, ...] = ()
    fewer_examples: tuple[int, ...] = ()
    usage: Mapping[str, float] = field(default_factory=dict)
    declared: Declared = field(default_factory=lambda: Declared())
    suite: str = ""
    suite_groups: Mapping[str, list[str]] = field(default_factory=dict)
    path: Path | None = None
    harness: HarnessRecord | None = None
    harness_counts: tuple[MetricCount, ...] = ()

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
            **{name: array[indices] for name in OF_LINES if len(array := getattr(self, name))},
            measures={name: values[indices] for name, values in self.measures.items()},
            keys=None if self.keys is None else self.keys[indices],
            parts=self.parts and some(self.parts),
            fields={name: some(labels) for name, labels in self.fields.items()},
            request_hashes={name: hashes[indices] for name, hashes in self.request_hashes.items()},
        )

    @property
    def dimensions(self) -> dict[str, str | int]:
        """What the cell is along each dimension of a comparison, and the set that its prompt belongs to."""
        return {name: getattr(self, name) for name in KEPT_APART}

    def without_dimensions(self, *names: str) -> dict[str, str | int]:
        """Returns the dimensions but for some."""
        return {name: value for name, value in self.dimensions.items() if name not in names}

    @property
    def folder(self) -> Path | None:
        """The run folder."""
        return self.path and self.path.parent

    @property
    def defect(self) -> str:
        """The known defect of the language's whole data; empty if there is none."""
        return self.declared.get("defective", {}).get(self.language, "")

    @property
    def baselines(self) -> Mapping[str, Mapping[str, float]]:
        """What a model gets that does not read the text: baseline to metric to score, as `metrics` have it.

        The metric `balanced` is accuracy in each class, averaged over the classes. Empty where nothing is known.
        """
        return self.declared.get("baselines", {}).get(self.language, {})

    @property
    def baseline_scores(self) -> dict[str, float]:
        """What each baseline gets by the main metric; by accuracy if that is a share of right picks too."""
        metric, share = self.metric, BALANCED if self.metric.normalise_over_cell else ACCURACY
        of_picks = metric.interval == "wilson" and metric.higher_is_better and self.main not in self.of_groups
        return self.baselines_by([self.main, *([share] if of_picks else [])])

    def baselines_by(self, metrics: Sequence[str]) -> dict[str, float]:
        """Returns the score of each baseline by the first of some metrics that it has; others are left out."""
        by_baseline = {name: [of[metric] for metric in metrics if metric in of] for name, of in self.baselines.items()}
        return {name: scores[0] for name, scores in by_baseline.items() if scores}

    @property
    def is_averaged(self) -> bool:
        """Whether averages over tasks, and tables of scores by language, may have it: its task does not exclude it."""
        return self.declared.get("averaged", True)

    @property
    def own_rows(self) -> bool:
        """Whether its rows are the suite's own samples, written by hand in place of the data set's."""
        return self.declared.get("sample_rows", {}).get(self.language, False)

    @property
    def unreviewed(self) -> bool | str:
        """How its native prompt was made, if nobody has reviewed it; empty otherwise."""
        return self.prompt_language == "native" and self.declared.get("unreviewed", {}).get(self.language, "")

    @property
    def concludes(self) -> bool:
        """Whether it may have a rank: its rows are neither the first ones, which may be alike, nor the suite's own.

        Scores by a judge that people have not corrected, and those that say nothing about quality, have none.
        """
        return self.selection.concludes and not self.own_rows and self.metric.ranked

    @property
    def data_set(self) -> str:
        """The data set that its documents are from; empty if it is not known."""
        return self.declared.get("data", "")


OF_LINES: dict[str, SampleColumn] = {of.name: of.metadata["column"] for of in fields(CellScores) if of.metadata}
