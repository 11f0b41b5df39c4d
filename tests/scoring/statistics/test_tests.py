"""Tests of differences and intervals by weights against scipy, enumeration and means."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from afrieval.scoring.base import mean
from afrieval.scoring.statistics.paired import of_draws, of_signs
from afrieval.scoring.statistics.tests import flips, holm, mcnemar, percentile, swap_draws

binary = st.lists(st.tuples(st.integers(0, 1), st.integers(0, 1)), min_size=1, max_size=60)


@given(binary)
def test_mcnemar_is_the_binomial_test_of_the_flips(pairs: list[tuple[int, int]]) -> None:
    first, second = np.array(pairs, dtype=float).T
    gained, lost = pairs.count((0, 1)), pairs.count((1, 0))
    assert flips(first, second) == (gained, lost)
    few, all_ = min(gained, lost), gained + lost
    by_hand = min(1.0, 2 * sum(stats.binom.pmf(k, all_, 0.5) for k in range(few + 1))) if all_ else 1.0
    assert mcnemar(gained, lost) == pytest.approx(by_hand)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=20))
def test_holm(p_values: list[float]) -> None:
    """Rejected at any level are the same as by the procedure in steps."""
    adjusted = holm(p_values)
    for level in (0.01, 0.05, 0.2):
        rejected: set[int] = set()
        for rank, i in enumerate(sorted(range(len(p_values)), key=lambda i: p_values[i])):
            if p_values[i] * (len(p_values) - rank) > level:
                break
            rejected.add(i)
        assert {i for i, p in enumerate(adjusted) if p <= level} == rejected


RNG = np.random.default_rng(7)
FIRST, SECOND = RNG.binomial(5, 0.4, 120) / 5, RNG.binomial(5, 0.48, 120) / 5


def test_of_a_mean_the_interval_is_that_of_drawing_documents() -> None:
    measures = FIRST[:, None]
    found = percentile(lambda w: mean(measures, w), 120, np.random.default_rng(1), 10_000)
    drawn = FIRST[np.random.default_rng(2).integers(0, 120, (10_000, 120))].mean(axis=1)
    assert found == pytest.approx(np.quantile(drawn, [0.025, 0.975]), abs=0.006)


def test_nothing_that_varies_has_no_interval() -> None:
    measures = np.full((10, 1), 0.1)
    assert percentile(lambda w: mean(measures, w), 10, np.random.default_rng(1)) is None


def test_of_a_mean_the_test_is_that_of_signs() -> None:
    gains = SECOND - FIRST

    def difference(
        swapped: np.ndarray[tuple[int, int], np.dtype[np.float64]],
    ) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
        return np.asarray((1 - 2 * swapped) @ gains / len(gains))

    drawn = 120 * swap_draws(difference, 120, np.random.default_rng(1), 20_000)
    found, signs = of_draws(gains.sum(), drawn, 1.0, (120, 120)), of_signs(gains, np.random.default_rng(2))
    assert found.p == pytest.approx(signs.p, abs=0.015)
    assert np.mean(drawn**2) == pytest.approx(signs.squares, rel=0.05)
