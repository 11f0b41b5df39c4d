"""How scores of stored answers change when these are scored again."""

import math
from typing import Any

import numpy as np

from afrieval.results.cell_scores import CellScores
from afrieval.results.derived import Mask
from afrieval.results.samples import Sample

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
