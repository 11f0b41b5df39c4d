"""Scores of a sample that grew while it was looked at: each look has an equal share of the level."""

import math

import numpy as np
import pytest
from scipy import stats
from tests.analysis.cells import named, scored

from afrieval.analysis.differences import difference
from afrieval.analysis.means import of_questions
from afrieval.analysis.race import begun
from afrieval.analysis.race import looked_at as raced
from afrieval.analysis.ranks import PERCENT, Contest, Rank, compared, ranks
from afrieval.analysis.scores import ByQuestion, averaged
from afrieval.analysis.uncertainty import TaskWeight, half_width, interval_of
from afrieval.analysis.verdicts import not_above
from afrieval.results.cell_scores import CellScores
from afrieval.results.document_columns import Values
from afrieval.scoring.statistics.looks import looks, up_to

LOOKS = 5
RIGHT = [1.0] * 40 + [0.0] * 60


def looked_at(values: list[float], number: int = LOOKS, prompt: int = 1, ids: list[int] | None = None) -> CellScores:
    return scored(values, ids=ids, looks=number, prompt=prompt)


def test_samples_double_until_all_rows_are_asked() -> None:
    assert looks(600) == [50, 100, 200, 400, 600] and looks(400) == [50, 100, 200, 400] and looks(7) == [7]
    assert (
        up_to(600, 150) == up_to(600, 100) == [50, 100] and up_to(600, 20) == [20] and up_to(600, 10**6) == looks(600)
    )


def test_an_interval_has_a_share_of_the_level() -> None:
    low, high = stats.binomtest(40, 100).proportion_ci(1 - 0.05 / LOOKS, method="wilson")
    for found in (looked_at(RIGHT).interval, averaged([looked_at(RIGHT)]).interval):
        assert found == pytest.approx((low, high))
    several = averaged([looked_at(RIGHT, prompt=prompt) for prompt in (1, 2)])
    once = averaged([scored(RIGHT, prompt=prompt) for prompt in (1, 2)])
    assert several.interval and once.interval and several.interval.low < once.interval.low
    assert once.interval_at(0.05 / LOOKS) == several.interval == averaged([*once.cells, looked_at(RIGHT)]).interval


def test_a_score_just_above_its_floor_needs_more_at_several_looks() -> None:
    values = [1.0] * 35 + [0.0] * 65  # chance is 25 %
    assert not_above(averaged([scored(values)])) is None
    assert not_above(averaged([looked_at(values)])) is not None


def test_a_difference_is_adjusted_for_looks_and_its_interval_agrees() -> None:
    second = [1.0] * 54 + [0.0] * 46
    for number, found in ((1, True), (LOOKS, False)):
        first, other = (averaged([looked_at(values, number)]) for values in (RIGHT, second))
        of = difference(first, other, tests=100, seed=1)
        assert of.p == pytest.approx(2 * 0.5**14) and of.adjusted == pytest.approx(min(1.0, 100 * number * of.p))
        assert of.interval and (of.interval.low > 0) == (of.adjusted < 0.05) == found
    one_side = difference(averaged([looked_at(RIGHT)]), averaged([scored(second)]), tests=1, seed=1)
    assert one_side.adjusted == pytest.approx(LOOKS * 2 * 0.5**14), "the other run has all questions of its only look"


def languages(number: int, own: bool, k: int = 4, n: int = 80) -> dict[int, ByQuestion]:
    draw = np.random.default_rng(3)
    hard = draw.random(n)
    drawn = {code: (draw.random(n) + hard * (not own)) / (2 - own) < 0.3 + 0.1 * code for code in range(k)}
    return {
        code: of_questions(
            [looked_at((100.0 * right).tolist(), number, ids=[*range(n * code * own, n * (code * own + 1))])]
        )
        for code, right in drawn.items()
    }


def test_a_mean_over_languages_has_a_share_of_the_level() -> None:
    for number in (1, LOOKS):
        given = languages(number, own=True)
        shares = [TaskWeight(1.0, "", given)]
        means = [float(of.scores.mean()) for of in given.values()]
        t = stats.t.ppf(1 - 0.05 / number / 2, 3)
        assert half_width(shares) == pytest.approx(t * np.std(means, ddof=1) / 2)


def test_a_mean_over_exactly_these_languages_is_as_sure_as_their_questions() -> None:
    given, alike = languages(LOOKS, own=True), languages(LOOKS, own=False)
    shares, same = [TaskWeight(1.0, "", given)], [TaskWeight(1.0, "", alike)]
    values = [of.scores for of in given.values()]
    error = math.sqrt(sum(v.var(ddof=1) / len(v) for v in values)) / len(values)
    t = stats.t.ppf(1 - 0.05 / LOOKS / 2, sum(map(len, values)) - 1)
    assert half_width(shares, drawn=False) == pytest.approx(t * error)
    interval = interval_of(shares, drawn=False)
    assert interval and interval.high - interval.low == pytest.approx(2 * t * error)
    rows = np.mean([of.scores for of in alike.values()], axis=0)  # whose languages share their questions
    t = stats.t.ppf(1 - 0.05 / LOOKS / 2, len(rows) - 1)
    assert half_width(same, drawn=False) == pytest.approx(t * rows.std(ddof=1) / math.sqrt(len(rows)))


def test_means_that_are_all_right_are_not_certain() -> None:
    shares = [TaskWeight(1.0, "", {code: named({(code, i): 100.0 for i in range(50)}) for code in "ab"})]
    interval = interval_of(shares, drawn=False)
    assert interval and interval.low < 95


def answers(rate: float, n: int, codes: str) -> Values:
    """A model's answers to n questions in each language, which depend on how hard these are."""
    return np.asarray(100.0 * (np.random.default_rng(4).random((len(codes), n)) < rate))


def contest(rates: list[float], number: int, n: int = 200, codes: str = "ab") -> Contest:
    entries = [
        {
            code: ByQuestion(np.arange(n) + 9000 * at, of, number)
            for at, (code, of) in enumerate(zip(codes, every, strict=True))
        }
        for every in (answers(rate, n, codes) for rate in rates)
    ]
    return Contest(1.0, "", entries, PERCENT)


def test_ranks_are_for_all_looks() -> None:
    rates, number = [0.5, 0.51, 0.8], 2 * LOOKS
    (_, once), (means, several) = (compared([contest(rates, number)], drawn=False) for number in (1, 2 * LOOKS))
    np.testing.assert_allclose(several, np.minimum(1, number * once))
    assert ranks([contest(rates, 1)], drawn=False)[:2] == [Rank(3, 3), Rank(2, 2)]
    assert ranks([contest(rates, number)], drawn=False)[:2] == [Rank(2, 3), Rank(2, 3)]
    assert means[2, 0] > 0


def test_languages_that_are_not_drawn_leave_questions_only() -> None:
    _, p = compared([contest([0.4, 0.5], 1, codes="abcd")], drawn=False)
    differences = (answers(0.4, 200, "abcd") - answers(0.5, 200, "abcd")).ravel()
    t = differences.mean() / (differences.std(ddof=1) / math.sqrt(len(differences)))
    assert p[0, 1] == pytest.approx(2 * stats.t.sf(abs(t), len(differences) - 1), rel=0.5)


def test_a_race_has_a_best_model_and_others_that_are_worse_or_within_the_margin() -> None:
    found = raced(begun(3), 1, [contest([0.50, 0.49, 0.30], LOOKS, 2000)], margin=3.0)
    assert found.ranks[2] == Rank(3, 3) and found.best == 0
    assert found.within == [True, True, False] and found.scores == sorted(found.scores, reverse=True)
    few = raced(begun(3), 1, [contest([0.50, 0.49, 0.45], LOOKS, 30)], margin=3.0)
    assert few.within == [at == few.best for at in range(3)], "too few questions to know"
    assert set(few.ranks) == {Rank(1, 3)}


def test_a_model_that_has_left_stays_out_and_ranks_only_become_narrower() -> None:
    race = raced(begun(3), 100, [contest([0.50, 0.49, 0.20], LOOKS, 100)])
    assert race.left == {2: 100} and race.still == [0, 1] and not race.is_decided
    later = raced(race, 200, [contest([0.50, 0.49, 0.90], LOOKS, 200)])
    assert later.left[2] == 100 and later.still == [0], "the best of those that were left stays"
    assert later.ranks[2] == Rank(1, 1), "of two ranks that exclude each other, the later one"
    decided = raced(race, 2000, [contest([0.50, 0.40, 0.20], LOOKS, 2000)])
    assert decided.still == [0] and decided.is_decided and decided.sample_of(2) == 100
    assert decided.ranks == [Rank(1, 1), Rank(2, 2), Rank(3, 3)]


def test_a_few_equal_answers_do_not_show_that_models_are_close() -> None:
    few, many = (raced(begun(2), n, [contest([0.5, 0.5], LOOKS, n)], margin=2.0) for n in (50, 2000))
    assert few.scores and not few.is_decided and many.is_decided and many.still == [0, 1]
