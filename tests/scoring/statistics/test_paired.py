"""The paired procedure against scipy, enumeration and simulation: a test, its interval, and its power."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from afrieval.scoring.base import Array
from afrieval.scoring.statistics.paired import (
    PairedTest,
    of_draws,
    of_flips,
    of_signs,
    of_student,
    smallest_flips,
    smallest_mean,
)

levels = st.sampled_from([0.05, 0.05 / 3, 0.05 / 16, 0.05 / 153])
steps = st.lists(st.sampled_from([-1.0, -0.6, -0.2, 0.0, 0.0, 0.2, 0.4, 1.0]), min_size=1, max_size=60)


def sees(test: PairedTest, span: float = 1.0) -> bool:
    """Whether the interval excludes 0, after a look at what every interval has."""
    interval = test.interval(span)
    if interval is None:
        return False
    assert -span <= interval.low <= test.total / test.n + 1e-9 and test.total / test.n - 1e-9 <= interval.high <= span
    return bool(interval.low > 0 or interval.high < 0)


@given(st.integers(0, 80), st.integers(0, 80), st.integers(0, 400), levels)
def test_the_interval_of_flips_excludes_0_exactly_if_mcnemar_rejects(a: int, b: int, alike: int, level: float) -> None:
    test = of_flips(a, b, max(1, a + b + alike), level)
    assert test.p == pytest.approx(stats.binomtest(a, a + b).pvalue if a + b else 1.0)
    assert sees(test) == (test.p < level)


@given(steps, levels)
def test_the_interval_of_signs_excludes_0_exactly_if_the_permutations_do(values: list[float], level: float) -> None:
    test = of_signs(np.array(values), np.random.default_rng(1), level, 999)
    assert sees(test) == (test.p < level)


@given(steps, st.integers(0, 60), levels)
def test_the_interval_of_student_excludes_0_exactly_if_the_test_does(
    values: list[float], few: int, level: float
) -> None:
    test = of_student(np.array(values), min(few, len(values)), level)
    assert sees(test) == (test.p < level)


def test_student_is_that_of_scipy_and_never_surer_than_with_one_more_that_differs() -> None:
    values = np.random.default_rng(2).choice([-1.0, 0.0, 1.0], 40, p=[0.2, 0.3, 0.5])
    assert of_student(values, 40).p == pytest.approx(stats.ttest_1samp(values, 0).pvalue)
    alike = of_student(np.full(300, 0.05), 20).interval(1.0)
    assert alike == pytest.approx([0.05 * 300 / 302 - 0.1066, 0.05 * 300 / 302 + 0.1066], abs=1e-3)


def test_the_permutation_test_is_that_of_all_sign_changes() -> None:
    rng = np.random.default_rng(0)
    for _ in range(5):
        differences = rng.choice([-1, -2 / 3, -1 / 3, 0, 1 / 3, 2 / 3, 1], 10)
        sums = [abs(np.dot(signs, differences)) for signs in product([-1, 1], repeat=10)]
        exact = np.mean([s >= abs(differences.sum()) - 1e-9 for s in sums])
        assert of_signs(differences, np.random.default_rng(1)).p == pytest.approx(exact, abs=0.015)


def test_nothing_differs() -> None:
    none = of_signs(np.zeros(5), np.random.default_rng(0))
    assert none.p == 1.0 and none.interval() is None, "of unbounded differences nothing is known"
    few, many = none.interval(1.0), of_signs(np.zeros(250), np.random.default_rng(0)).interval(1.0)
    assert few and many and few.low == -few.high < 5 * many.low < 0
    low, high = of_flips(0, 0, 250).interval(1.0) or (0, 0)
    assert 0 < high == -low < 0.02, "250 documents without a difference say something"
    assert 0 < of_signs(np.ones(50), np.random.default_rng(0)).p < 0.001


def test_few_draws_reach_no_low_level() -> None:
    drawn = np.arange(99.0)
    assert of_draws(200.0, drawn, 100.0, (50, 50), 0.04).critical == 96.5
    assert of_draws(200.0, drawn, 100.0, (50, 50), 0.01).critical == np.inf


@pytest.mark.parametrize(("n", "differ", "level"), [(500, 100, 0.05), (500, 10, 0.05), (60, 0, 0.05), (300, 40, 0.003)])
def test_the_smallest_difference_is_found_four_times_out_of_five(n: int, differ: int, level: float) -> None:
    true, rng = smallest_flips(n, differ, level), np.random.default_rng(3)
    share = max(differ / n, true)
    gained, lost, _ = rng.multinomial(n, [(share + true) / 2, (share - true) / 2, 1 - share], 4000).T
    pairs, counts = np.unique(np.column_stack([gained, lost]), axis=0, return_counts=True)
    found = [stats.binomtest(int(a), int(a + b)).pvalue < level if a + b else False for a, b in pairs]
    assert counts @ found / 4000 == pytest.approx(0.8, abs=0.025)


def test_too_few_documents_find_nothing() -> None:
    assert smallest_flips(5, 2) == 1.0 and smallest_flips(5, 2, 1e-6) == 1.0


def test_of_means_the_smallest_difference_is_that_of_a_z_test() -> None:
    template: Array = np.repeat([1.0, -1.0, 0.0], [50, 50, 400])
    assert smallest_mean(template) == pytest.approx(2.8016 * stats.sem(template), rel=1e-3)
    assert smallest_mean(np.zeros(500)) == pytest.approx(2.8016**2 / 500, rel=1e-3)
    assert smallest_mean(np.zeros(3)) == 1.0 and smallest_mean(template, 0.05 / 16) > 1.3 * smallest_mean(template)
