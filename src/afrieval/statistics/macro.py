"""Macro averages: the mean of a benchmark's parts, such as the subjects of MMLU, next to the mean of its rows."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from afrieval.statistics.intervals import Z95, Interval, wilson


class Macro(NamedTuple):
    """A mean over parts, each of which counts the same; `parts` is how many there are."""

    score: float
    interval: Interval
    parts: int


def macro(values: NDArray[np.float64], parts: NDArray[np.int64]) -> Macro | None:
    """Returns the macro average; None if no document has a part.

    Args:
        values: each document's score, 0 or 1, or its mean over prompts, shape (n,).
        parts: the part that each is of, by number, shape (n,); -1 for none.
    """
    of_parts = [values[parts == part] for part in np.unique(parts[parts >= 0])]
    if not of_parts:
        return None
    return Macro(float(np.mean([v.mean() for v in of_parts])), over_parts(of_parts), len(of_parts))


def over_parts(parts: list[NDArray[np.float64]], z: float = Z95) -> Interval:
    """Returns the 95 % interval of a mean over parts that are all there are: other rows could be asked, no other parts.

    Rows are a sample stratified by part, so the variance is that of the parts' means (Cochran 1977, "Sampling
    Techniques", section 5.3). The interval is Wilson's with as many rows as would have that variance (Korn & Graubard
    1998, see `clustered_wilson`), so that it stays inside 0 and 1. A part of one row, or none whose rows differ, shows
    no variance; then rows are taken to be equally hard in all parts, which makes the interval wider, not narrower.

    Args:
        parts: 0 or 1, or a mean over prompts, for each row of each part.
        z: a normal quantile; by default of a 95 % interval.
    """
    k, score = len(parts), float(np.mean([p.mean() for p in parts]))
    effective = k**2 / sum(1 / len(p) for p in parts)
    if min(map(len, parts)) > 1:
        variance = float(sum(p.var(ddof=1) / len(p) for p in parts)) / k**2
        effective = score * (1 - score) / variance if variance > 0 else effective
    return wilson(score * effective, effective, z)
