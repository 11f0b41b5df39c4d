"""Derived metrics against scipy, and by hand."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from sklearn.metrics import roc_auc_score

from afrieval._util.errors import UserError
from afrieval.scoring.base import Array, Input
from afrieval.scoring.derived import DERIVED, derived

POSITIVE = st.lists(st.floats(0.01, 1), min_size=1, max_size=5)
VALUES = st.lists(st.floats(-5, 5), min_size=2, max_size=20)


def inputs(*scores: float) -> list[Input]:
    return [Input(np.array([score, 1.0]), np.array([score]), np.ones((2, 1)), np.array([[score]])) for score in scores]


def of_values(values: list[float], times: list[int] | None = None) -> Input:
    weights: Array = np.array([np.ones(len(values)), times or np.ones(len(values))], dtype=np.float64)
    return Input(weights @ values / weights.sum(axis=1), np.array(values), weights, np.array(values)[:, None])


@given(POSITIVE)
def test_means(scores: list[float]) -> None:
    harmonic, arithmetic = (derived("x", how).score(inputs(*scores)) for how in ("harmonic_mean", "mean"))
    assert harmonic.tolist() == pytest.approx([stats.hmean(scores), 1.0])
    assert arithmetic.tolist() == pytest.approx([np.mean(scores), 1.0])


def test_a_score_of_zero_makes_the_harmonic_mean_zero() -> None:
    assert derived("x", "harmonic_mean").score(inputs(0.5, 0.0)).tolist() == [0.0, 1.0]
    assert derived("x", "harmonic_mean").score(inputs(0.0, 0.0)).tolist() == [0.0, 1.0]


@given(VALUES, VALUES, st.data())
def test_the_p_value_is_that_of_scipy(one: list[float], other: list[float], data: st.DataObject) -> None:
    times = [data.draw(st.lists(st.integers(0, 3), min_size=n, max_size=n).filter(any)) for n in map(len, (one, other))]
    found = derived("x", "ks_test").score([of_values(one, times[0]), of_values(other, times[1])])
    repeated = [np.repeat(values, n) for values, n in zip((one, other), times, strict=True)]
    assert found.tolist() == [stats.ks_2samp(one, other).pvalue, stats.ks_2samp(*repeated).pvalue]


def test_the_name_is_the_task_files() -> None:
    found = derived("forget_quality", "ks_test")
    assert (found.name, found.interval, found.n_inputs) == ("forget_quality", "none", 2)
    with pytest.raises(UserError, match="there is no derived metric 'geometric_mean'"):
        derived("x", "geometric_mean")
    assert set(DERIVED) >= {"mean", "harmonic_mean", "ks_test"}


def of_scores(*scores: float) -> list[Input]:
    empty: Array = np.zeros((1, 0))
    return [Input(np.array([score]), empty[0], empty, empty.T) for score in scores]


@given(
    st.lists(st.integers(-3, 3), min_size=1, max_size=12),
    st.lists(st.integers(-3, 3), min_size=1, max_size=12),
    st.data(),
)
def test_the_auc_is_that_of_scikit_learn(low: list[int], high: list[int], data: st.DataObject) -> None:
    weights = [data.draw(st.lists(st.floats(0.1, 3), min_size=n, max_size=n)) for n in map(len, (low, high))]
    (one, two) = (
        Input(np.zeros(1), np.zeros(len(v)), np.array([w]), np.array([v], dtype=float).T)
        for v, w in zip((low, high), weights, strict=True)
    )
    labels = [0] * len(low) + [1] * len(high)
    expected = roc_auc_score(labels, [*low, *high], sample_weight=[*weights[0], *weights[1]])
    assert derived("x", "auc").score([one, two]).tolist() == pytest.approx([expected])
    there = [given._replace(measures=given.measures * 3 + 1) for given in (one, two)]
    of_differences = roc_auc_score(labels, -2 * np.array([*low, *high]), sample_weight=[*weights[0], *weights[1]])
    assert derived("x", "auc_of_differences").score([one, two, *there]).tolist() == pytest.approx([of_differences])


def test_the_auc_is_not_defined_where_a_set_was_not_drawn() -> None:
    low, high = (
        Input(np.zeros(2), np.zeros(1), np.array([[1.0], [w]]), np.array([[v]])) for w, v in ((0.0, 1.0), (1.0, 2.0))
    )
    found = derived("x", "auc").score([low, high])
    assert found[0] == 1 and np.isnan(found[1])


def test_privleak_is_that_of_the_published_tables() -> None:
    """Of MUSE: 0 for the retrained model, -100 if all training texts can be told apart."""
    found = derived("x", "privleak")
    assert found.score(of_scores(0.53, 0.53)).tolist() == [0.0]
    assert found.score(of_scores(1.0, 0.53)).tolist() == [-100.0]
    a, r = 1 - 0.2, 1 - 0.5  # open-unlearning's own formula
    assert found.score(of_scores(0.2, 0.5))[0] == pytest.approx(100 * (a - r) / (r + 1e-10))
    assert np.isnan(found.score(of_scores(0.5, 1.0))).all()


def test_relative_differences_are_of_the_size_of_the_reference() -> None:
    found = derived("x", "relative_difference")
    assert found.score(of_scores(0.6, 0.5))[0] == pytest.approx(20)
    assert found.score(of_scores(-0.6, -0.5))[0] == pytest.approx(-20)
    assert np.isnan(found.score(of_scores(0.6, 0.0))).all()


def test_the_ks_test_sees_the_stored_numbers_not_what_the_mean_is_made_of() -> None:
    raw = [0.2, 0.5, 2.0, 5.0]
    folded = [min(r, 1 / r) for r in raw]
    one = of_values(folded)._replace(measures=np.array([raw]).T)
    other = of_values(folded)._replace(measures=np.array([[9.0, 8.0, 7.0, 6.0]]).T)
    assert derived("x", "ks_test").score([one, other])[0] == stats.ks_2samp(raw, [9, 8, 7, 6]).pvalue
