"""Macro averages against formulas, and intervals of AUCs by simulation."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from scipy.stats import mannwhitneyu

from afrieval.scoring.statistics.intervals import wilson
from afrieval.scoring.statistics.score_intervals import auc_interval, macro, over_parts, smallest_auc

ROWS = st.lists(st.tuples(st.sampled_from("abcd"), st.sampled_from([0.0, 1.0])), min_size=1, max_size=60)


def unequal(seed: int) -> list[np.ndarray[tuple[int], np.dtype[np.float64]]]:
    rng = np.random.default_rng(seed)
    return [rng.binomial(1, p, n).astype(float) for n, p in ((40, 0.3), (400, 0.7), (90, 0.5), (1000, 0.9))]


@given(ROWS)
def test_each_part_counts_the_same(rows: list[tuple[str, float]]) -> None:
    found = macro(np.array([v for _, v in rows]), np.array(["abcd".index(name) for name, _ in rows]))
    assert found is not None and found.interval is not None
    names = {name for name, _ in rows}
    means = [float(np.mean([v for name, v in rows if name == wanted])) for wanted in names]
    assert found.n == len(names) and found.value == pytest.approx(sum(means) / len(means))
    assert 0 <= found.interval.low <= found.value + 1e-9 and found.value - 1e-9 <= found.interval.high <= 1


def test_macro_is_not_micro_and_documents_without_a_part_are_in_none() -> None:
    found = macro(np.array([1.0, 1.0, 1.0, 0.0, 1.0]), np.array([0, 0, 0, 1, -1]))
    assert found is not None and (found.value, found.n) == (0.5, 2)
    assert macro(np.array([1.0]), np.array([-1])) is None


@pytest.mark.parametrize("seed", range(5))
def test_the_interval_solves_the_score_equation_of_the_stratified_variance(seed: int) -> None:
    """At both ends the score is 1.96 errors away, where an error is that of p (1 - p) over the effective number."""
    parts = unequal(seed)
    score = float(np.mean([stats.tmean(p) for p in parts]))
    variance = sum(stats.sem(p) ** 2 for p in parts) / len(parts) ** 2
    effective = score * (1 - score) / variance
    for end in over_parts(parts):
        assert abs(end - score) == pytest.approx(stats.norm.ppf(0.975) * math.sqrt(end * (1 - end) / effective))


@pytest.mark.parametrize("seed", range(5))
def test_the_interval_is_that_of_a_bootstrap_in_each_part(seed: int) -> None:
    parts, rng = unequal(seed), np.random.default_rng(seed)
    drawn = np.mean([p[rng.integers(0, len(p), (10_000, len(p)))].mean(axis=1) for p in parts], axis=0)
    assert over_parts(parts) == pytest.approx(np.quantile(drawn, [0.025, 0.975]), abs=0.008)


def test_parts_without_spread_still_have_an_interval() -> None:
    ones, zeros = np.ones(10), np.zeros(10)
    assert over_parts([ones, zeros]) == wilson(10, 20)
    assert over_parts([ones]) == wilson(10, 10)
    assert over_parts([np.ones(1), zeros]) == pytest.approx(wilson(0.5 * (4 / 1.1), 4 / 1.1))


Array = np.ndarray[tuple[int, ...], np.dtype[np.float64]]


def auc(low: Array, high: Array) -> float:
    return float((high[:, None] > low).mean())


@pytest.mark.parametrize(("n", "m"), [(500, 12), (60, 40), (15, 15)])
@pytest.mark.parametrize("shift", [0.0, 1.0])
def test_the_interval_has_the_true_value_19_times_out_of_20(n: int, m: int, shift: float) -> None:
    rng = np.random.default_rng(n)
    true = auc(rng.normal(0, 1, 4000), rng.normal(shift, 1, 4000))
    found = [auc_interval(auc(rng.normal(0, 1, n), rng.normal(shift, 1, m)), n, m) for _ in range(400)]
    assert np.mean([low <= true <= high for low, high in found]) > 0.92


def test_sets_that_do_not_overlap_have_an_interval() -> None:
    low, high = auc_interval(1.0, 60, 40)
    assert 0.9 < low < 1 and high == 1
    assert auc_interval(0.0, 60, 40) == pytest.approx((0, 1 - low))


@pytest.mark.parametrize(("n", "m"), [(500, 12), (100, 100)])
def test_the_smallest_auc_is_found_four_times_out_of_five(n: int, m: int) -> None:
    rng = np.random.default_rng(m)
    shift = np.sqrt(2) * -_normal_quantile(1 - smallest_auc(n, m))
    drawn = [(rng.normal(0, 1, n), rng.normal(shift, 1, m)) for _ in range(400)]
    found = [mannwhitneyu(high, low, alternative="greater").pvalue < 0.05 for low, high in drawn]
    assert 0.7 < np.mean(found) < 0.9


def test_more_languages_need_more_and_nothing_is_above_1() -> None:
    assert 0.5 < smallest_auc(500, 12) < smallest_auc(500, 12, tests=16) < 1 == smallest_auc(2, 2)


def _normal_quantile(p: float) -> float:
    from statistics import NormalDist

    return NormalDist().inv_cdf(p)
