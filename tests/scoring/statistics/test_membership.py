"""The interval of an AUC keeps its rate, and so does the smallest AUC that is detectable."""

import numpy as np
import pytest
from scipy.stats import mannwhitneyu

from afrieval.scoring.statistics.score_intervals import auc_interval, smallest_auc

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
