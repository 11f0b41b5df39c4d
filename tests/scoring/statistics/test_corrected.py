"""The corrected score against ppi-python 0.2.3, and how often its interval covers what people would have said."""

import numpy as np
import pytest

from afrieval.scoring.base import Array
from afrieval.scoring.learned import learned
from afrieval.scoring.statistics.corrected import FEWEST, corrected_mean, corrected_values, n_rated
from afrieval.scoring.statistics.score_intervals import score_interval

CORRECTED = learned("corrected_a")


def measures(judged: Array, people: Array, n: int) -> Array:
    """Returns what is stored of answers of which the first n are rated."""
    rated = (np.arange(len(judged)) < n).astype(float)
    return np.stack([judged, rated * people, rated], axis=1)


def score(of: Array) -> float:
    return float(corrected_mean(of, np.ones((1, len(of))))[0])


def test_score_and_error_are_those_of_ppi_python_with_the_same_power() -> None:
    judged = np.array([*map(int, "431433431110033014424144201210041220412434344121203141231232")]) / 4
    people = np.array([*map(int, "2314114320111220044241423"), *[0] * 35]) / 4
    of = measures(judged, people, 25)
    values = corrected_values(of)
    assert n_rated(of) == 25 and score(of) == pytest.approx(values.mean()) == pytest.approx(0.47714744)
    error = values.std(ddof=1) / np.sqrt(60)  # theirs divides by 25 and 35, not by degrees of freedom
    assert 1 < error / ((0.5817046 - 0.37259028) / (2 * 1.959964)) < 1.04


def test_weights_are_documents_given_as_often() -> None:
    rng = np.random.default_rng(3)
    of = measures(rng.random(30), rng.random(30), 12)
    times = rng.integers(0, 3, 30)
    weights = times[None].astype(float)
    assert corrected_mean(of, weights)[0] == pytest.approx(score(np.repeat(of, times, axis=0)))


def test_what_a_judge_adds() -> None:
    people = np.array([1.0, 0, 1, 0, 1, 0, 1, 1] * 10)
    of_people = people[:20].mean()
    assert score(measures(np.full(80, 0.5), people, 20)) == of_people  # all judged alike
    assert score(measures(1 - people, people, 20)) == of_people  # the worse, the higher it judges: not used
    assert score(measures(people, people, 80)) == people.mean()  # all rated
    assert 0.6 < score(measures(0.5 * people + 0.5, people, 20)) < people.mean() + 0.05  # half as far apart
    assert np.isnan(score(measures(people, people, 0)))


def covered(n: int, rng: np.random.Generator, runs: int = 1000) -> tuple[float, float]:
    """Returns how often intervals contain a true share of 60 %: corrected, and of the judge alone.

    The judge is wrong in 27.5 % of answers: too kind in 21.25 %, too hard in 6.25 %, and so 15 points too high.
    """
    found: dict[str, list[bool]] = {"corrected_a": [], "judge_a": []}
    for run in range(runs):
        people = (rng.random(300) < 0.6).astype(float)
        wrong = rng.random(300) < np.where(people == 1, 0.0625 / 0.6, 0.2125 / 0.4)
        judged = np.where(wrong, 1 - people, people)
        of = measures(judged, people, n)
        for name in list(found)[: 2 if run < 100 else 1]:
            interval = score_interval(learned(name), [of if name == "corrected_a" else of[:, :1]])
            assert interval is not None
            found[name].append(interval.low <= 0.6 <= interval.high)
    return float(np.mean(found["corrected_a"])), float(np.mean(found["judge_a"]))


@pytest.mark.parametrize("n", [FEWEST, 40])
def test_95_of_100_intervals_cover_although_the_judge_is_15_points_too_kind(n: int) -> None:
    corrected, alone = covered(n, np.random.default_rng(n))
    assert 0.94 <= corrected <= 0.98 and alone < 0.2


def test_answers_that_happen_to_be_alike_do_not_make_a_score_sure() -> None:
    found = score_interval(CORRECTED, [measures(np.ones(300), np.ones(300), 20)])
    assert found is not None and found.low < 0.87 and found.high == 1
    people = score_interval(learned("people"), [np.full((20, 1), 0.75)])
    assert people is not None and people.low < 0.7 < 0.8 < people.high
    assert score_interval(learned("people"), [np.ones((1, 1))]) is None
