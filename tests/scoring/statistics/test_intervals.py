"""Intervals agree with scipy, and hold what they promise."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from afrieval.scoring.statistics.intervals import bootstrap, clustered_wilson, standard_error, wilson


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
    assert bootstrap(np.full(n, value), np.random.default_rng(1)) is None


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


def test_bootstrap_is_near_scipy_and_the_same_for_a_seed() -> None:
    values = np.random.default_rng(0).normal(0.3, 1.0, 400)
    expected = stats.bootstrap((values,), np.mean, method="percentile", rng=np.random.default_rng(1))
    interval = bootstrap(values, np.random.default_rng(2))
    assert interval == pytest.approx(tuple(expected.confidence_interval), abs=0.01)
    assert bootstrap(values, np.random.default_rng(2)) == interval


@pytest.mark.parametrize("kind", [np.random.PCG64, np.random.MT19937])
@pytest.mark.parametrize("kept", [0, 100_000])
def test_draws_that_are_kept_are_the_same(monkeypatch: pytest.MonkeyPatch, kind: Any, kept: int) -> None:
    monkeypatch.setattr("afrieval.scoring.statistics.intervals.KEPT", kept)
    values = np.random.default_rng(3).random((3, 70))
    rng, plain = np.random.Generator(kind(4)), np.random.Generator(kind(4))
    for each in [*values, *values]:
        means = each[plain.integers(0, 70, (900, 70))].mean(axis=1)
        assert bootstrap(each, rng, 900) == (np.quantile(means, 0.025), np.quantile(means, 0.975))
        assert rng.random() == plain.random(), "what is drawn next is the same too"
    first, second = (bootstrap(of, np.random.default_rng(1), 900) for of in values[:2])
    assert first != second and first == bootstrap(values[0], np.random.default_rng(1), 900)


def test_bootstrap_in_pieces_covers_all_resamples() -> None:
    """40,000 documents do not fit in one piece."""
    values = np.random.default_rng(0).normal(0.0, 1.0, 40_000)
    low, high = bootstrap(values, np.random.default_rng(1), resamples=300) or (0, 0)
    assert low < values.mean() < high and high - low == pytest.approx(2 * 1.96 / 200, rel=0.15)


def test_bootstrap_covers_at_about_the_stated_rate() -> None:
    rng = np.random.default_rng(3)
    hits = 0
    for _ in range(300):
        low, high = bootstrap((rng.random(200) < 0.4).astype(float), rng, resamples=500) or (0, 0)
        hits += low <= 0.4 <= high
    assert 0.91 <= hits / 300 <= 0.98
