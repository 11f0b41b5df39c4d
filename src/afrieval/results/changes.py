"""How scores of stored answers change when these are scored again."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from afrieval._util.grouping import grouped
from afrieval.results.cell_key import PromptId, prompt_order
from afrieval.results.cell_scores import CellScores
from afrieval.results.derived import Mask
from afrieval.results.document_columns import Values
from afrieval.results.samples import Sample
from afrieval.scoring.base import Metric

Pair = tuple[CellScores, CellScores]  # a cell as it was, and as it is now
CLOSE = 1e-9  # relative difference that two computers may have


def moved_documents(before: CellScores, after: CellScores) -> dict[str, Mask]:
    """Returns each metric that a cell has before and now, and whether the measures of each document moved."""
    moved = {}
    for name in [name for name in before.metrics if name in after.metrics]:
        one, other = before.measures[name], after.measures[name]
        if one.shape == other.shape:
            moved[name] = np.asarray(~np.isclose(one, other, rtol=CLOSE, atol=0, equal_nan=True).all(axis=1))
        else:  # another version of the metric stores another number of them
            moved[name] = np.full(len(other), fill_value=False)
    return moved


def has_moved(before: CellScores, after: CellScores) -> bool:
    """Returns whether a score or measure of a cell moved or is gone, or another metric is its score.

    Where a mean over parts is a score too, other parts move it.
    """
    one, other = before.parts, after.parts
    if before.n != after.n or (after.n and before.main != after.main) or before.metrics.keys() - after.metrics.keys():
        return True
    if one and (other is None or one.names != other.names or not np.array_equal(one.codes, other.codes)):
        return True
    return any(
        moved.any() or not alike(before.with_metric(name).score, after.with_metric(name).score)
        for name, moved in moved_documents(before, after).items()
    )


def score_differences(stored: Sample, rescored: Sample) -> list[str]:
    """Returns what of a stored line's score differs from another score of its answer; a new metric does not."""
    pairs = [(name, of, rescored.get(name)) for name, of in stored.items() if name not in ("metrics", "measures")]
    pairs += [(f"the measure of {name}", of, rescored["measures"].get(name)) for name, of in stored["measures"].items()]
    return [f"{name} is {one}, and its answer gives {two}" for name, one, two in pairs if not alike(one, two)]


def alike(one: Any, other: Any) -> bool:
    """Returns whether two values of JSON are equal, but for how a computer rounds numbers."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(alike(one[key], other[key]) for key in one)
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(map(alike, one, other))
    if isinstance(one, float) and isinstance(other, float):
        return math.isclose(one, other, rel_tol=CLOSE) or (math.isnan(one) and math.isnan(other))
    return bool(one == other)


@dataclass(frozen=True)
class Move:
    """A score of a language in a prompt language, as the mean over prompts.

    Attributes:
        before: the score that is stored; None for a metric that was not measured.
        after: the new score; None for a metric that is not measured any more.
        n: documents under all prompts.
        up: how many of them have a higher score.
        down: how many of them have a lower score.
    """

    task: str
    language: str
    prompt_language: str
    prompts: list[PromptId]
    metric: Metric
    before: float | None
    after: float | None
    n: int
    up: int
    down: int


def moves(pairs: Iterable[Pair]) -> list[Move]:
    """Returns the scores that moved, by task, language, prompt language and metric.

    Metrics that were not measured before, or are not measured any more, are among them.
    """
    groups = grouped(pairs, lambda pair: (pair[1].task, pair[1].language, pair[1].prompt_language, pair[1].prompt_set))
    all_moves = []
    for members in groups.values():
        in_order = sorted(members, key=lambda pair: prompt_order(pair[1].prompt))
        befores, nows = ([pair[side] for pair in in_order] for side in (0, 1))
        for name in dict.fromkeys([*nows[0].metrics, *befores[0].metrics]):
            steps = np.concatenate([_steps(name, *pair) for pair in in_order])
            all_moves.append(
                Move(
                    task=nows[0].task,
                    language=nows[0].language,
                    prompt_language=nows[0].prompt_language,
                    prompts=[cell.prompt for cell in nows],
                    metric=nows[0].metrics.get(name) or befores[0].metrics[name],
                    before=_mean(name, befores),
                    after=_mean(name, nows),
                    n=sum(cell.n for cell in nows),
                    up=int((steps > 0).sum()),
                    down=int((steps < 0).sum()),
                )
            )
    return [move for move in all_moves if move.up or move.down or not alike(move.before, move.after)]


def _mean(name: str, cells: list[CellScores]) -> float | None:
    """Returns the mean score over prompts; None where a prompt has none."""
    scores = [cell.with_metric(name).score for cell in cells if name in cell.metrics]
    return float(np.mean(scores)) if len(scores) == len(cells) else None


def _steps(name: str, before: CellScores, after: CellScores) -> Values:
    """Returns the change of the score of each document that moved, shape (k,)."""
    if name not in before.metrics or name not in after.metrics or name in after.derived:
        return np.zeros(0)
    moved = np.flatnonzero(moved_documents(before, after)[name])
    metric, ones = after.metrics[name], np.ones((1, 1))
    sides = (after.measures[name], before.measures[name])
    new, old = (np.array([metric.score(values[[row]], ones)[0] for row in moved]) for values in sides)
    steps: Values = new - old
    return steps
