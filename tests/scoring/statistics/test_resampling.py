"""Intervals and tests by weights, against those of means, which are known."""

import numpy as np
import pytest

from afrieval.scoring.base import mean
from afrieval.scoring.statistics.paired import of_draws, of_signs
from afrieval.scoring.statistics.tests import percentile, swap_draws

RNG = np.random.default_rng(7)
FIRST, SECOND = RNG.binomial(5, 0.4, 120) / 5, RNG.binomial(5, 0.48, 120) / 5


def test_of_a_mean_the_interval_is_that_of_drawing_documents() -> None:
    measures = FIRST[:, None]
    found = percentile(lambda w: mean(measures, w), 120, np.random.default_rng(1), 10_000)
    drawn = FIRST[np.random.default_rng(2).integers(0, 120, (10_000, 120))].mean(axis=1)
    assert found == pytest.approx(np.quantile(drawn, [0.025, 0.975]), abs=0.006)


def test_nothing_that_varies_has_no_interval() -> None:
    measures = np.full((10, 1), 0.1)
    assert percentile(lambda w: mean(measures, w), 10, np.random.default_rng(1)) is None


def test_of_a_mean_the_test_is_that_of_signs() -> None:
    gains = SECOND - FIRST

    def difference(
        swapped: np.ndarray[tuple[int, int], np.dtype[np.float64]],
    ) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
        return np.asarray((1 - 2 * swapped) @ gains / len(gains))

    drawn = 120 * swap_draws(difference, 120, np.random.default_rng(1), 20_000)
    found, signs = of_draws(gains.sum(), drawn, 1.0, (120, 120)), of_signs(gains, np.random.default_rng(2))
    assert found.p == pytest.approx(signs.p, abs=0.015)
    assert np.mean(drawn**2) == pytest.approx(signs.squares, rel=0.05)
