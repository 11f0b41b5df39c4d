"""Intervals and tests by weights, against those of means, which are known."""

import numpy as np
import pytest

from afrieval.scoring.base import mean
from afrieval.statistics.intervals import bootstrap
from afrieval.statistics.resampling import percentile, swap_test
from afrieval.statistics.significance import sign_permutation

RNG = np.random.default_rng(7)
FIRST, SECOND = RNG.binomial(5, 0.4, 120) / 5, RNG.binomial(5, 0.48, 120) / 5


def test_of_a_mean_the_interval_is_that_of_drawing_documents() -> None:
    measures = FIRST[:, None]
    found = percentile(lambda w: mean(measures, w), 120, np.random.default_rng(1), 10_000)
    assert found == pytest.approx(bootstrap(FIRST, np.random.default_rng(2)), abs=0.006)


def test_nothing_that_varies_has_no_interval() -> None:
    measures = np.full((10, 1), 0.1)
    assert percentile(lambda w: mean(measures, w), 10, np.random.default_rng(1)) is None


def test_of_a_mean_the_test_is_that_of_signs() -> None:
    gains = SECOND - FIRST

    def difference(
        swapped: np.ndarray[tuple[int, int], np.dtype[np.float64]],
    ) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
        return np.asarray((1 - 2 * swapped) @ gains / len(gains))

    found = swap_test(difference, 120, np.random.default_rng(1), 20_000)
    assert found == pytest.approx(sign_permutation(gains, np.random.default_rng(2)), abs=0.015)


def test_no_difference_is_as_likely_as_can_be() -> None:
    assert swap_test(lambda swapped: np.zeros(len(swapped)), 5, np.random.default_rng(1)) == 1.0
