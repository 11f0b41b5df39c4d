"""Tests of differences against scipy, statsmodels' formulas worked out apart, and enumeration."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from afrieval.statistics.significance import flips, holm, mcnemar, sign_permutation, smallest_visible

binary = st.lists(st.tuples(st.integers(0, 1), st.integers(0, 1)), min_size=1, max_size=60)


@given(binary)
def test_mcnemar_is_the_binomial_test_of_the_flips(pairs: list[tuple[int, int]]) -> None:
    first, second = np.array(pairs, dtype=float).T
    gained, lost = pairs.count((0, 1)), pairs.count((1, 0))
    assert flips(first, second) == (gained, lost)
    few, all_ = min(gained, lost), gained + lost
    by_hand = min(1.0, 2 * sum(stats.binom.pmf(k, all_, 0.5) for k in range(few + 1))) if all_ else 1.0
    assert mcnemar(first, second) == pytest.approx(by_hand)


def test_the_permutation_test_is_that_of_all_sign_changes() -> None:
    rng = np.random.default_rng(0)
    for _ in range(5):
        differences = rng.choice([-1, -2 / 3, -1 / 3, 0, 1 / 3, 2 / 3, 1], 10)
        sums = [abs(np.dot(signs, differences)) for signs in product([-1, 1], repeat=10)]
        exact = np.mean([s >= abs(differences.sum()) - 1e-9 for s in sums])
        drawn = sign_permutation(differences, np.random.default_rng(1))
        assert drawn == pytest.approx(exact, abs=0.015)


def test_a_permutation_test_of_nothing() -> None:
    assert sign_permutation(np.zeros(5), np.random.default_rng(0)) == 1.0
    assert 0 < sign_permutation(np.ones(50), np.random.default_rng(0)) < 0.001


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


def test_the_smallest_visible_difference_is_found_four_times_out_of_five() -> None:
    """Of 500 documents, 20 % differ; the rest is the same."""
    rng = np.random.default_rng(3)
    n, share = 500, 0.2
    template = np.array([1.0] * int(n * share / 2) + [-1.0] * int(n * share / 2) + [0.0] * int(n * (1 - share)))
    visible = smallest_visible(template)
    assert visible == pytest.approx(2.8016 * np.sqrt(share / (n - 1)), rel=1e-3)
    found = 0
    for _ in range(1000):
        chance = rng.random(n)
        differences = np.where(chance < (share + visible) / 2, 1.0, np.where(chance < share, -1.0, 0.0))
        gained, lost = int(np.sum(differences > 0)), int(np.sum(differences < 0))
        found += stats.binomtest(gained, gained + lost).pvalue < 0.05
    assert 730 <= found <= 850
    assert smallest_visible(np.zeros(500)) == pytest.approx(2.8016**2 / 500, rel=1e-3)
    assert smallest_visible(np.zeros(3)) == 1.0 and smallest_visible(template, 16) > 1.3 * visible
