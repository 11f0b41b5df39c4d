"""Stored samples to numbers: one row per cell, and scores per document."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from afrieval.results.samples import Sample
from afrieval.scoring.choice import ACCURACIES, UNREAD
from afrieval.scoring.extract.number import EXACT_MATCH
from afrieval.scoring.ifeval.accuracies import MEANS, ifeval_means, linearised
from afrieval.scoring.ifeval.instructions import FOLLOWED
from afrieval.statistics.intervals import Interval, standard_error, wilson
from afrieval.statistics.macro import Macro, macro

METRICS = (ACCURACIES[0], EXACT_MATCH, *FOLLOWED, *ACCURACIES[1:], UNREAD)  # the first that a cell has is its score


@dataclass(frozen=True)
class CellScores:
    """What a cell's samples say.

    Attributes:
        metrics: metric to document id to score; values whose mean is the score, where documents have lists of scores.
        n: documents scored.
        n_unscored: documents left out because they have no gold answer.
        ids: all documents, scored or left out.
        defects: those with a defect, scored or left out.
        chance: expected score of a guess; NaN where nothing can be guessed.
        parts: document to the part of the benchmark that it is of, in tasks that declare parts.
        verdicts: document to whether the published answer to it was right, where the data tell.
        per_document: how many scores a document has on average; more than 1 if it has a list of them.
    """

    name: str
    task: str
    language: str
    prompt: int
    prompt_language: str
    metrics: dict[str, dict[int, float]]
    n: int
    n_unscored: int
    ids: frozenset[int]
    defects: frozenset[int]
    chance: float
    parts: dict[int, str] = field(default_factory=dict)
    verdicts: dict[int, float] = field(default_factory=dict)
    per_document: float = 1.0

    @property
    def n_defect(self) -> int:
        """How many documents have a defect."""
        return len(self.defects)

    @property
    def main(self) -> str:
        """The metric that is the cell's score."""
        return next(m for m in METRICS if self.metrics[m])

    @property
    def score(self) -> float:
        """Mean of the main metric, 0 to 1."""
        return float(np.mean(self.values(self.main)))

    def values(self, metric: str) -> NDArray[np.float64]:
        """Returns a metric's scores by document."""
        return np.array(list(self.metrics.get(metric, {}).values()))

    @property
    def interval(self) -> Interval:
        """Wilson's interval of the score."""
        return wilson(float(self.values(self.main).sum()), self.n)

    @property
    def macro(self) -> Macro | None:
        """The mean over parts; None in tasks that declare none."""
        return macro(self.metrics[self.main], self.parts)


def cell_scores(name: str, samples: list[Sample]) -> CellScores:
    """Returns the scores of a cell.

    Args:
        name: the cell's name.
        samples: its sample file, at least one line.
    """
    first = samples[0]
    scored = [s for s in samples if s["metrics"]]
    return CellScores(
        name=name,
        task=first["task"],
        language=first["language"],
        prompt=first["prompt"],
        prompt_language=first["prompt_language"],
        metrics={m: _values({s["doc_id"]: s[m] for s in scored if m in s}) for m in METRICS},
        n=len(scored),
        n_unscored=len(samples) - len(scored),
        ids=frozenset(s["doc_id"] for s in samples),
        defects=frozenset(s["doc_id"] for s in samples if s["defect"]),
        chance=float(np.mean([1 / (s["n_choices"] or math.nan) for s in scored])) if scored else math.nan,
        parts={s["doc_id"]: s["part"] for s in scored if "part" in s},
        verdicts={s["doc_id"]: float(s["published_correct"]) for s in scored if "published_correct" in s},
        per_document=float(np.mean([_scores_of(s) for s in scored])) if scored else 1.0,
    )


def _values(found: Mapping[int, Any]) -> dict[int, float]:
    """Returns a value per document whose mean is the metric's score."""
    lists = [value for value in found.values() if isinstance(value, list)]
    return dict(zip(found, linearised(lists).tolist(), strict=True)) if lists else dict(found)


def _scores_of(sample: Sample) -> int:
    return max(len(sample[m]) if isinstance(sample[m], list) else 1 for m in sample["metrics"])


SUMMARY_COLUMNS = [
    "task",
    "language",
    "prompt",
    "prompt_language",
    "metric",
    "score",
    "standard_error",
    "low",
    "high",
    "n",
    "n_defect",
    *ACCURACIES[1:],
    UNREAD,
    "macro",
    "parts",
    *FOLLOWED,
    *MEANS,
]


def summary_row(cell: CellScores) -> dict[str, Any]:
    """Returns a cell's row of summary.csv; shares are 0 to 1, and a metric that was not measured is empty."""
    row: dict[str, Any] = {
        c: getattr(cell, c) for c in ("task", "language", "prompt", "prompt_language", "n", "n_defect")
    }
    if not cell.n:
        return row
    others = {m: float(np.mean(v)) for m in METRICS if m in SUMMARY_COLUMNS and len(v := cell.values(m))}
    others |= {name: float(np.mean(values)) for name, values in ifeval_means(cell.metrics).items()}
    over_parts = {"macro": found.score, "parts": found.parts} if (found := cell.macro) else {}
    low, high = cell.interval
    error = standard_error(cell.values(cell.main))
    return {
        **row,
        "metric": cell.main,
        "score": cell.score,
        "standard_error": error,
        "low": low,
        "high": high,
        **others,
        **over_parts,
    }


def harness_results(cells: list[CellScores], shots: int, versions: dict[str, int]) -> dict[str, Any]:
    """Returns the harness' results format, with its standard errors filled in.

    Args:
        cells: the run's cells.
        shots: worked examples before each question.
        versions: task to version.
    """
    results = {}
    for cell in cells:
        metrics: dict[str, Any] = {"name": cell.name, "alias": cell.name, "sample_len": cell.n}
        for metric in METRICS:
            if len(values := cell.values(metric)):
                error = standard_error(values)
                metrics[f"{metric},none"] = float(np.mean(values))
                metrics[f"{metric}_stderr,none"] = "N/A" if math.isnan(error) else error
        results[cell.name] = metrics
    names = [c.name for c in cells]
    return {
        "results": results,
        "group_subtasks": {name: [] for name in names},
        "versions": {c.name: versions[c.task] for c in cells},
        "n-shot": dict.fromkeys(names, shots),
        "higher_is_better": {name: {m: m != UNREAD for m in METRICS} for name in names},
        "n-samples": {c.name: {"original": c.n + c.n_unscored, "effective": c.n} for c in cells},
    }
