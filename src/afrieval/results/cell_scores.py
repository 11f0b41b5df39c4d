"""The one table of scores: what a cell's sample file says in numbers, whatever the task."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from afrieval.results.cell_key import CellKey
from afrieval.results.document_scores import DocumentScores
from afrieval.results.identity import ALL, Selection
from afrieval.results.schema import Declared, HarnessRecord

ACCURACY, BALANCED = "acc", "balanced"  # metrics of baselines
DIMENSIONS = ("prompt_language", "prompt", "model", "shots", "answer_form", "language")  # what can be compared
KEPT_APART = ("prompt_set", *DIMENSIONS)  # the sets share no prompt


class MetricCount(NamedTuple):
    """How many documents of a task of the harness have a metric under a filter; and a 1, if all have 0 or 1."""

    n: int
    right: float | None


@dataclass(frozen=True, kw_only=True)
class CellScores(CellKey, DocumentScores):
    """The scores of a cell: the key that names it, what its documents scored, and where that comes from.

    Attributes:
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
        usage: what answers took, as `results.summary` names it; empty if their backend does not tell.
        declared: what run.yaml says of the task.
        suite: name of the suite that was run; empty without one.
        suite_groups: its tasks by group.
        path: the sample file.
        harness: what the harness says of a task of its own; there are no measures.
        harness_counts: of each of its metrics.
    """

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
