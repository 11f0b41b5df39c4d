"""Intervals and tests on random data against scipy, and against formulas worked out apart where scipy has none."""

import math

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from afrieval.scoring.base import mean
from afrieval.scoring.statistics.intervals import clustered_wilson, wilson
from afrieval.scoring.statistics.paired import of_signs
from afrieval.scoring.statistics.tests import percentile


def answers(rng: np.random.Generator, prompts: int, n: int = 200) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Two sides' means over prompts, of documents of their own difficulty; the second is a little better."""
    chance = rng.beta(1, 2, n)
    first, second = (rng.binomial(prompts, np.clip(chance + more, 0, 1)) / prompts for more in (0, 0.05))
    return first, second


@pytest.mark.parametrize("prompts", [1, 5])
def test_the_permutation_test_is_scipys(prompts: int) -> None:
    first, second = answers(np.random.default_rng(0), prompts)
    theirs = stats.permutation_test(
        (second, first),
        lambda x, y, axis: np.mean(x - y, axis=axis),
        permutation_type="samples",
        vectorized=True,
        n_resamples=20_000,
        rng=np.random.default_rng(0),
    )
    ours = of_signs(second - first, np.random.default_rng(100)).p
    assert ours == pytest.approx(theirs.pvalue, abs=4 * math.sqrt(2 * 0.25 / 20_000))


@pytest.mark.parametrize("prompts", [1, 5])
def test_the_bootstrap_is_scipys_over_pairs(prompts: int) -> None:
    first, second = answers(np.random.default_rng(0), prompts)
    theirs = stats.bootstrap(
        (first, second),
        lambda x, y, axis: np.mean(y - x, axis=axis),
        paired=True,
        vectorized=True,
        method="percentile",
        rng=np.random.default_rng(0),
    ).confidence_interval
    gains = (second - first)[:, None]
    ours = percentile(lambda weights: mean(gains, weights), len(gains), np.random.default_rng(100), 10_000)
    assert ours == pytest.approx((theirs.low, theirs.high), abs=1.1 / 200)  # one document more or less


def test_clustered_wilson_is_korn_and_graubards_effective_number() -> None:
    """By the design effect: the variance found, over that of as many independent answers."""
    k, n = 5, 200
    values, _ = answers(np.random.default_rng(0), k, n)
    p = values.mean()
    effect = (values.var(ddof=1) / n) / (p * (1 - p) / (n * k))
    assert 1 < effect < k
    effective = n * k / effect * (stats.norm.ppf(0.975) / stats.t.ppf(0.975, n - 1)) ** 2
    assert clustered_wilson(values, k) == pytest.approx(wilson(p * effective, effective))
