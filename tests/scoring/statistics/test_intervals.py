"""Intervals agree with scipy and hold what they promise; values per document have the score as mean."""

import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from afrieval.scoring.base import Array, Metric
from afrieval.scoring.metrics import metric
from afrieval.scoring.statistics.intervals import clustered_wilson, linear_values, standard_error, wilson


def test_wilson_ends_are_exact() -> None:
    for n in range(1, 200):
        assert wilson(0, n).low == 0.0 and wilson(n, n).high == 1.0


@given(st.integers(1, 2000), st.data())
def test_wilson_equals_scipy(n: int, data: st.DataObject) -> None:
    k = data.draw(st.integers(0, n))
    expected = stats.binomtest(k, n).proportion_ci(0.95, method="wilson")
    assert wilson(k, n) == pytest.approx((expected.low, expected.high), abs=1e-9)


def test_answers_that_are_alike_count_once_and_unlike_ones_more() -> None:
    alike = np.array([1.0] * 30 + [0.0] * 70)
    unlike = np.array([0.0, 0.2, 0.4, 0.6] * 25)
    for per_document in (1, 5):
        assert clustered_wilson(alike, per_document) == pytest.approx(wilson(30, 100), abs=3e-3)
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


F1 = metric({"name": "f1", "average": "macro"})
CHRF = metric("chrf")
RATIO = metric("inst_level_strict_acc")


def labels(rng: np.random.Generator, n: int) -> Array:
    gold = rng.choice(3, n, p=[0.6, 0.3, 0.1])
    picked = np.where(rng.random(n) < 0.6, gold, rng.integers(-1, 3, n))
    return np.column_stack([gold, picked]).astype(np.float64)


def ngrams(rng: np.random.Generator, n: int) -> Array:
    """Statistics as chrF has them: n-grams of the answer, of the gold text, and of both, for six orders."""
    length, share = rng.integers(20, 80, n), rng.beta(4, 4, n)
    orders = [(length - k, length + rng.integers(-5, 6, n) - k, (length * share / (k + 1)).round()) for k in range(6)]
    return np.column_stack([column for order in orders for column in order]).astype(np.float64)


def counts(rng: np.random.Generator, n: int) -> Array:
    given_ = rng.integers(1, 4, n)
    return np.column_stack([rng.binomial(given_, rng.beta(2, 1, n)), given_]).astype(np.float64)


CASES = {"f1": (F1, labels), "chrf": (CHRF, ngrams), "ratio": (RATIO, counts)}
Case = tuple[Metric, Callable[[np.random.Generator, int], Array]]


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_the_mean_is_the_score_and_the_error_that_of_drawing_documents_again(case: Case) -> None:
    of, draw = case
    rng = np.random.default_rng(1)
    measures = draw(rng, 300)
    values = linear_values(of, measures)
    assert values.mean() == pytest.approx(of.score(measures, np.ones((1, 300)))[0])
    weights = rng.multinomial(300, np.full(300, 1 / 300), 2000).astype(np.float64)
    assert standard_error(values) == pytest.approx(of.score(measures, weights).std(), rel=0.08)


def test_a_ratio_has_the_values_of_its_formula() -> None:
    measures = counts(np.random.default_rng(2), 50)
    numerical = linear_values(Metric("r", RATIO.measure, RATIO.score, interval="bootstrap"), measures)
    assert numerical == pytest.approx(linear_values(RATIO, measures), abs=1e-6)


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(-1, 2)), min_size=2, max_size=40))
def test_documents_with_the_same_measures_have_the_same_value(pairs: list[tuple[int, int]]) -> None:
    measures = np.array(pairs, dtype=np.float64)
    values = linear_values(F1, measures)
    for pair in set(pairs):
        assert np.ptp(values[(measures == pair).all(axis=1)]) == 0
    assert values.mean() == pytest.approx(F1.score(measures, np.ones((1, len(pairs))))[0])


def test_a_score_without_an_interval_has_no_spread() -> None:
    measures = np.array([[0.1], [0.9]])
    of = Metric("median", F1.measure, lambda m, w: np.repeat(np.median(m), len(w)), interval="none")
    assert linear_values(of, measures).tolist() == [0.5, 0.5]
