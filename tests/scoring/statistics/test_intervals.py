"""Intervals agree with scipy, and hold what they promise."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from afrieval.scoring.statistics.intervals import clustered_wilson, standard_error, wilson


def test_wilson_ends_are_exact() -> None:
    for n in range(1, 200):
        assert wilson(0, n).low == 0.0 and wilson(n, n).high == 1.0


@given(st.integers(1, 2000), st.data())
def test_wilson_equals_scipy(n: int, data: st.DataObject) -> None:
    k = data.draw(st.integers(0, n))
    expected = stats.binomtest(k, n).proportion_ci(0.95, method="wilson")
    assert wilson(k, n) == pytest.approx((expected.low, expected.high), abs=1e-9)


def test_clusters_of_one_are_wilsons() -> None:
    values = np.array([1.0] * 30 + [0.0] * 70)
    assert clustered_wilson(values, 1) == pytest.approx(wilson(30, 100), abs=3e-3)


def test_answers_that_are_alike_count_once_and_unlike_ones_more() -> None:
    alike = np.array([1.0] * 30 + [0.0] * 70)
    unlike = np.array([0.0, 0.2, 0.4, 0.6] * 25)
    assert clustered_wilson(alike, 5) == pytest.approx(wilson(30, 100), abs=3e-3)
    low, high = clustered_wilson(unlike, 5)
    assert high - low < 0.6 * (wilson(30, 100).high - wilson(30, 100).low)


@pytest.mark.parametrize("value", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("n", [1, 7])
def test_documents_that_score_alike_do_not_make_us_sure(n: int, value: float) -> None:
    low, high = clustered_wilson(np.full(n, value), 5)
    assert high - low > 0.25


@pytest.mark.parametrize("n", [2, 5, 20])
def test_few_documents_are_covered_too(n: int) -> None:
    rng = np.random.default_rng(n)
    hits = 0
    for _ in range(1000):
        chance = rng.beta(1, 1, n)
        low, high = clustered_wilson((rng.random((5, n)) < chance).mean(axis=0), 5)
        hits += low <= 0.5 <= high
    assert hits / 1000 >= 0.92


def test_one_document_asked_often_is_still_one_document() -> None:
    assert clustered_wilson(np.array([0.6]), 5) == wilson(0.6, 1)


def test_clustered_wilson_covers_at_about_the_stated_rate() -> None:
    """300 documents of their own difficulty, each asked five times."""
    rng = np.random.default_rng(4)
    hits = 0
    for _ in range(400):
        chance = rng.beta(0.6, 1.4, 300)
        low, high = clustered_wilson((rng.random((5, 300)) < chance).mean(axis=0), 5)
        hits += low <= 0.3 <= high
    assert 0.92 <= hits / 400 <= 0.98


def test_standard_error_is_the_harness_own() -> None:
    from lm_eval.api.metrics import mean_stderr

    values = [1.0, 0.0, 0.0, 1.0, 1.0]
    assert standard_error(np.array(values)) == pytest.approx(mean_stderr(values))
    assert math.isnan(standard_error(np.array([1.0])))
