"""Derived metrics against scipy, and by hand."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from afrieval.errors import UserError
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
