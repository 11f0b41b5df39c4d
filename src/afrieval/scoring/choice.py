"""Which of several continuations is the most likely."""

import math
from collections.abc import Sequence

from afrieval.scoring.base import Likelihood

LOWEST = -1e9  # stands for the logarithm of 0 where numbers must be finite
TIE = 1e-5  # of a value's size; float32 rounds the same request in two batches to values some 1e-7 apart


def best(loglikelihoods: Sequence[float], lengths: Sequence[float] | None = None) -> int:
    """Returns the index of the highest log-likelihood, or the highest per length; the first of several that tie.

    Two values tie if they differ by no more than rounding can change: `TIE` times the size of their sums, taken as
    at least 1. The answer therefore does not depend on what else the model computed in the same batch.

    Args:
        loglikelihoods: sums over tokens, one per choice.
        lengths: what to divide them by; none is 0.
    """
    divisors = lengths or [1] * len(loglikelihoods)
    pairs = list(zip(loglikelihoods, divisors, strict=True))
    values = [total / length for total, length in pairs]
    highest = values.index(max(values))
    near = (i for i in range(highest) if values[highest] - values[i] <= max(_slack(*pairs[i]), _slack(*pairs[highest])))
    return next(near, highest)


def _slack(total: float, length: float) -> float:
    """Returns by how much rounding can change a value."""
    return TIE * max(1.0, abs(total)) / length if math.isfinite(total) else 0.0


def best_per(likelihoods: Sequence[Likelihood], lengths: Sequence[int | None]) -> int | None:
    """Returns the index of the highest log-likelihood per length ("Multiple Choice Normalization", Gao 2021).

    Args:
        likelihoods: one per choice.
        lengths: of the choices; None is returned if one is 0 or not known.
    """
    known = [length for length in lengths if length]
    if not likelihoods or len(known) < len(likelihoods):
        return None
    return best([given.loglikelihood for given in likelihoods], known)
