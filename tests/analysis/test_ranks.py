"""Ranks: a computation by brute force, and simulated error rates."""

import math
from itertools import combinations

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats
from tests.analysis.cells import named, scored

from afrieval.analysis.ranks import Contest, Rank, compared, contest, pairs, ranked, ranks, stated
from afrieval.analysis.scores import ByQuestion
from afrieval.analysis.uncertainty import ScoreWithoutDocuments, TaskWeight, half_width

Answers = NDArray[np.float64]


def entries(answers: Answers) -> list[dict[str, ByQuestion]]:
    """Answers of shape (models, languages, questions), the same questions in all languages."""
    return [
        {f"l{at}": named({q: float(v) for q, v in enumerate(row)}) for at, row in enumerate(of_model)}
        for of_model in answers
    ]


def drawn(
    rng: np.random.Generator, chances: list[float], languages: int, questions: int, spread: float = 0.0
) -> Answers:
    """`spread` is that of what each language adds to a single model."""
    hard = rng.normal(0, 1, questions)
    at = np.log(chances) - np.log1p(-np.array(chances))
    logits = at[:, None, None] + rng.normal(0, 0.3, (1, languages, 1)) + hard
    logits = logits + rng.normal(0, spread, (len(chances), languages, 1))
    return np.asarray(rng.random((len(chances), languages, questions)) < 1 / (1 + np.exp(-logits)), dtype=np.float64)


def test_one_language_is_the_interval_of_bonett_and_price() -> None:
    first, second = np.zeros((2, 40))
    first[:9], second[7:12] = 1.0, 1.0
    gained, lost, n = 7, 3, 40
    means, p_values = compared([Contest(1.0, "d", entries(np.array([[first], [second]])))])
    share, other = (gained + 1) / (n + 2), (lost + 1) / (n + 2)
    z = (share - other) / math.sqrt((share + other - (share - other) ** 2) / (n + 2))
    assert means[0, 1] == pytest.approx((gained - lost) / (n + 2))
    assert p_values[0, 1] == pytest.approx(2 * stats.t.sf(z, n - 1), rel=1e-6)


@pytest.mark.parametrize("tasks", [1, 2])
def test_a_p_value_is_the_level_at_which_the_interval_reaches_0(tasks: int) -> None:
    """Of so many documents, the two more in each language change nothing."""
    rng = np.random.default_rng(3)
    answers = [drawn(rng, [0.5, 0.51], 6, 3000) for _ in range(tasks)]
    contests = [Contest(1 / tasks, f"d{at}", entries(a)) for at, a in enumerate(answers)]
    means, p_values = compared(contests)
    assert 0.001 < p_values[0, 1] < 0.9
    assert _half(answers, float(p_values[0, 1])) == pytest.approx(abs(means[0, 1]), rel=0.02)
    shares = [TaskWeight(1 / tasks, f"d{at}", entries(a[:1] - a[1:])[0]) for at, a in enumerate(answers)]
    assert _half(answers, 0.05) == pytest.approx(half_width(shares))


def _half(answers: list[Answers], level: float) -> float:
    """The interval of the mean over tasks, in plain loops, from the formulas at the top of `widths`."""
    tasks, k, n = len(answers), answers[0].shape[1], answers[0].shape[2]
    of_documents = of_each = 0.0
    added = np.zeros(k)
    for answer in answers:
        d = answer[0] - answer[1]
        means = d.mean(axis=1)
        covariances = [np.cov(d[i], d[j])[0, 1] / n for i, j in combinations(range(k), 2)]
        shared = max(0.0, float(np.mean(covariances)))
        of_documents += shared / tasks**2
        of_each += (float(np.mean(d.var(axis=1, ddof=1) / n)) - shared) / k / tasks**2
        added += math.sqrt(k / (k - 1)) * (means - means.mean()) / k / tasks
    t_languages, t_questions = (stats.t.ppf(1 - level / 2, df) ** 2 for df in (k - 1, n * tasks - 1))
    return math.sqrt(max(t_languages * float(added @ added), t_questions * of_each) + t_questions * of_documents)


def test_a_few_right_answers_of_a_run_are_not_sure_next_to_published_scores() -> None:
    few = {"l": named(dict.fromkeys(range(5), 100.0))}
    published = {"l": ScoreWithoutDocuments(80.0, 100 * stated(0.8, 500).error, 500)}
    assert ranks([Contest(1.0, "d", [few, published], (0.0, 100.0))]) == [(1, 2), (1, 2)]
    many = {"l": named(dict.fromkeys(range(500), 100.0))}
    assert ranks([Contest(1.0, "d", [many, published], (0.0, 100.0))]) == [(1, 1), (2, 2)]


def test_a_run_has_the_error_of_a_published_accuracy_if_documents_are_not_shared() -> None:
    right = [{"l": named({q: 100.0 * (q % 4 > 0) for q in range(at, at + 40)})} for at in (0, 40)]
    told = [{"l": ScoreWithoutDocuments(75.0, 100 * stated(0.75, 40).error, 40)} for _ in range(2)]
    of_runs, of_told = (pairs(Contest(1.0, "d", each, (0.0, 100.0)))[1].shared for each in (right, told))
    assert of_runs == pytest.approx(of_told)


def test_models_that_cannot_be_told_apart_share_their_ranks() -> None:
    rng = np.random.default_rng(1)
    answers = drawn(rng, [0.9, 0.6, 0.6, 0.2], 4, 400)
    assert ranks([Contest(1.0, "d", entries(answers))]) == [Rank(1, 1), Rank(2, 3), Rank(2, 3), Rank(4, 4)]


def test_equal_models_share_all_ranks() -> None:
    answers = np.repeat(drawn(np.random.default_rng(1), [0.5], 2, 50), 3, axis=0)
    assert ranks([Contest(1.0, "d", entries(answers))]) == [Rank(1, 3)] * 3


def test_one_document_tells_nothing() -> None:
    assert ranks([Contest(1.0, "d", entries(np.array([[[1.0]], [[0.0]]])))]) == [Rank(1, 2)] * 2


def test_models_are_compared_on_the_questions_that_both_have() -> None:
    """The second is right on all of its twenty, easy ones; so is the first."""
    first = {"yor": named({q: float(q < 20) for q in range(200)})}
    second = {"yor": named(dict.fromkeys(range(20), 1.0))}
    means, p_values = compared([Contest(1.0, "d", [first, second])])
    assert means[0, 1] == 0
    assert p_values[0, 1] == 1


def test_published_scores_are_told_apart_by_the_errors_of_single_scores() -> None:
    close, far = (Contest(1.0, "d", [{"yor": stated(0.5, 500)}, {"yor": stated(p, 500)}]) for p in (0.55, 0.65))
    assert ranks([close]) == [Rank(1, 2)] * 2
    assert ranks([far]) == [Rank(2, 2), Rank(1, 1)]


def test_an_model_without_a_known_error_has_no_rank_and_does_not_count() -> None:
    entries = [{"yor": stated(p, 500)} for p in (0.9, 0.2)]
    assert ranks([Contest(1.0, "d", [*entries, {"yor": ScoreWithoutDocuments(0.5, math.nan, 500)}])]) == [
        Rank(1, 1),
        Rank(2, 2),
        None,
    ]


def test_a_run_and_a_published_score_are_compared() -> None:
    run = entries((np.arange(500) < 450).astype(float).reshape(1, 1, -1))[0]
    assert ranks([Contest(1.0, "d", [run, {"l0": stated(0.5, 500)}])]) == [Rank(1, 1), Rank(2, 2)]


def test_ranks_of_cells_average_over_prompts() -> None:
    good, bad = [1.0] * 30 + [0.0] * 10, [1.0] * 5 + [0.0] * 35
    sides = {
        "a": [scored(bad, prompt=1), scored(bad, prompt=2)],
        "b": [scored(good, prompt=1), scored(good, prompt=2)],
    }
    assert ranked(sides) == {"a": Rank(2, 2), "b": Rank(1, 1)}
    scores = contest(list(sides.values())).entries[1]["yor"]
    assert not isinstance(scores, ScoreWithoutDocuments)
    assert np.mean(scores.scores) == pytest.approx(75)


def error_rate(repeats: int, chances: list[float], shape: tuple[int, int], spread: float = 0.0) -> float:
    """How often a true rank is outside the ranks shown."""
    rng = np.random.default_rng(20)
    wrong = 0
    for _ in range(repeats):
        found = ranks([Contest(1.0, "d", entries(drawn(rng, chances, *shape, spread)))])
        for chance, rank in zip(chances, found, strict=True):
            better, not_worse = sum(c > chance for c in chances), sum(c >= chance for c in chances)
            if rank is None or rank.first > 1 + better or rank.last < not_worse:
                wrong += 1
                break
    return wrong / repeats


def missed_next_to_published(repeats: int, chance: float, documents: int) -> float:
    """How often a run is told apart from a published score of 500 documents, if both are equally good."""
    rng = np.random.default_rng(21)
    wrong = 0
    for _ in range(repeats):
        run = entries((rng.random((1, 1, documents)) < chance).astype(float))[0]
        published = stated(float(np.mean(rng.random(500) < chance)), 500)
        wrong += ranks([Contest(1.0, "d", [run, {"l0": published}], (0.0, 1.0))]) != [Rank(1, 2)] * 2
    return wrong / repeats


@pytest.mark.slow
@pytest.mark.parametrize(("chance", "documents"), [(0.5, 10), (0.8, 10), (0.98, 100), (0.95, 20)])
def test_a_run_is_rarely_told_apart_from_an_equal_published_score(chance: float, documents: int) -> None:
    assert missed_next_to_published(1000, chance, documents) < 0.06


SETTINGS = {
    "equal, one language": ([0.5] * 6, (1, 100), 0.0),
    "equal, one language, few documents": ([0.5] * 4, (1, 20), 0.0),
    "nearly all right": ([0.97] * 5, (1, 60), 0.0),
    "equal in each of eight languages": ([0.5] * 5, (8, 60), 0.0),
    "equal over languages, but in no single one": ([0.5] * 5, (12, 100), 0.4),
    "two groups": ([0.4] * 3 + [0.7] * 3, (1, 150), 0.0),
}


@pytest.mark.slow
@pytest.mark.parametrize("setting", SETTINGS)
def test_simulated_ranks_hold_the_true_ones(setting: str) -> None:
    assert error_rate(2000, *SETTINGS[setting]) <= 0.06


def test_simulated_ranks_hold_the_true_ones_in_short() -> None:
    assert 0 < error_rate(200, [0.5] * 5, (1, 50)) <= 0.08


def test_the_interval_of_published_scores_is_that_of_a_single_score_and_of_languages() -> None:
    """By hand: one language has its own error; several have the spread over languages, and the error once."""
    one_score = stated(0.5, 496)
    assert one_score.error == pytest.approx(math.sqrt(0.25 / 500))
    assert half_width([TaskWeight(1.0, "d", {"yor": one_score})]) == pytest.approx(
        stats.t.ppf(0.975, 495) * one_score.error
    )
    several = {
        code: ScoreWithoutDocuments(score, 0.02, 500) for code, score in (("yor", 0.4), ("hau", 0.5), ("ibo", 0.6))
    }
    of_languages, of_documents = 0.01 / 3, 0.02**2
    expected = math.sqrt(stats.t.ppf(0.975, 2) ** 2 * of_languages + stats.t.ppf(0.975, 499) ** 2 * of_documents)
    assert half_width([TaskWeight(1.0, "d", several)]) == pytest.approx(expected)
