"""Tests of differences against scipy, statsmodels' formulas worked out apart, and enumeration."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from afrieval.scoring.statistics.tests import flips, holm, mcnemar

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


def test_holm_by_hand() -> None:
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
