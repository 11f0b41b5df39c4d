"""Predicted intervals and differences, against those that questions then give."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from afrieval.scoring.statistics.intervals import LEVEL
from afrieval.scoring.statistics.planning import WIDEST, Expected, fewest
from afrieval.scoring.statistics.tests import mcnemar


@pytest.mark.parametrize(
    ("n", "right", "looks", "z"),
    [(50, 25, 1, 1.959964), (204, 30, 1, 1.959964), (600, 600, 5, 2.575829), (600, 0, 5, 2.575829)],
)
def test_intervals_are_as_wide_as_those_of_the_answers(n: int, right: int, looks: int, z: float) -> None:
    p = right / n
    # both ends solve (p - q)^2 = z^2 q (1 - q) / n
    ends = np.sort(np.roots([1 + z**2 / n, -(2 * p + z**2 / n), p**2]).real)
    expected = Expected(p, math.sqrt(p * (1 - p)), 0.5)
    assert expected.half_width(n, looks) == pytest.approx((ends[1] - ends[0]) / 2, rel=1e-6)


def test_four_prompts_whose_answers_are_independent_count_four_times() -> None:
    four = Expected(0.5, 0.25, 0.5, prompts=4)  # the mean of four answers varies half as much
    assert four.half_width(2_000) == pytest.approx(WIDEST.half_width(8_000), rel=1e-2)


@pytest.mark.parametrize(("n", "tests"), [(100, 1), (600, 1), (600, 16)])
def test_a_detectable_difference_is_found_four_times_out_of_five(n: int, tests: int) -> None:
    true = WIDEST.detectable(n, tests)
    rng, differing = np.random.default_rng(1), max(WIDEST.differing**2, true)
    both = rng.multinomial(n, [(differing + true) / 2, (differing - true) / 2, 1 - differing], size=2_000)
    found = np.mean([mcnemar(int(gained), int(lost)) < LEVEL / tests for gained, lost, _ in both])
    assert found == pytest.approx(0.8, abs=0.03)


def test_many_questions_show_nearly_what_the_exact_test_does() -> None:
    exact, normal = WIDEST.detectable(2_000, 1), WIDEST.detectable(2_001, 1)
    assert normal == pytest.approx(exact, rel=0.05)


@given(st.floats(0.001, 0.5))
def test_the_fewest_questions_are_enough_and_one_less_is_not(target: float) -> None:
    n = fewest(WIDEST.half_width, target)
    assert n is not None
    assert WIDEST.half_width(n) <= target
    assert n == 1 or WIDEST.half_width(n - 1) > target


def test_some_targets_take_more_questions_than_there_can_be() -> None:
    assert fewest(WIDEST.half_width, 1e-5) is None
