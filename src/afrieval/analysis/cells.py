"""Stored samples to numbers: one row per cell, and scores per document."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from afrieval.analysis.statistics import Interval, standard_error, wilson
from afrieval.metrics.choice import ACCURACIES, UNREAD
from afrieval.results.files import Sample

SCORE = "acc"
METRICS = (*ACCURACIES, UNREAD)


@dataclass(frozen=True)
class CellScores:
    """What a cell's samples say.

    Attributes:
        metrics: metric to document id to score.
        n: documents scored.
        n_unscored: documents left out because they have no gold answer.
        ids: all documents, scored or left out.
        defects: those with a defect, scored or left out.
        chance: expected accuracy of a guess.
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

    @property
    def n_defect(self) -> int:
        """How many documents have a defect."""
        return len(self.defects)

    @property
    def score(self) -> float:
        """Mean accuracy, 0 to 1."""
        return float(np.mean(self.values(SCORE)))

    def values(self, metric: str) -> NDArray[np.float64]:
        """Returns a metric's scores by document."""
        return np.array(list(self.metrics.get(metric, {}).values()))

    @property
    def interval(self) -> Interval:
        """Wilson's interval of the score."""
        return wilson(float(self.values(SCORE).sum()), self.n)


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
        metrics={m: {s["doc_id"]: s[m] for s in scored if m in s} for m in METRICS},
        n=len(scored),
        n_unscored=len(samples) - len(scored),
        ids=frozenset(s["doc_id"] for s in samples),
        defects=frozenset(s["doc_id"] for s in samples if s["defect"]),
        chance=float(np.mean([1 / s["n_choices"] for s in scored])) if scored else math.nan,
    )


SUMMARY_COLUMNS = [
    "task",
    "language",
    "prompt",
    "prompt_language",
    "score",
    "standard_error",
    "low",
    "high",
    "n",
    "n_defect",
    *METRICS[1:],
    "metric",
]


def summary_row(cell: CellScores) -> dict[str, Any]:
    """Returns a cell's row of summary.csv; shares are 0 to 1, and a metric that was not measured is empty."""
    row: dict[str, Any] = {
        c: getattr(cell, c) for c in ("task", "language", "prompt", "prompt_language", "n", "n_defect")
    }
    row["metric"] = SCORE
    if not cell.n:
        return row
    others = {m: float(np.mean(v)) for m in METRICS[1:] if len(v := cell.values(m))}
    low, high = cell.interval
    error = standard_error(cell.values(SCORE))
    return {
        **row,
        "score": cell.score,
        "standard_error": error,
        "low": low,
        "high": high,
        **others,
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
