"""Means over languages: members, groups, and an interval that is wider than that of documents alone."""

import statistics
from itertools import permutations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from tests.analysis.cells import named, scored

from afrieval.analysis.means import means, over_languages
from afrieval.analysis.scores import over_prompts
from afrieval.analysis.uncertainty import shared_variance
from afrieval.results.cell_scores import CellScores


def test_african_languages_count_the_same_and_no_others() -> None:
    units = [
        scored([1.0] * 10, language="yor"), scored([0.0] * 4, language="swa"),
        scored([1.0], language="eng"), scored([1.0], language="fra"),
    ]  # fmt: skip
    (mean,) = means(units, ["Africa"])
    assert (mean.members, mean.score) == (["swa", "yor"], 0.5)
    assert mean.interval is not None and (mean.interval.low, mean.interval.high) == (0.0, 1.0)


def test_groups_by_family_script_and_region() -> None:
    units = [scored([1.0, 0.0], language=c) for c in ("amh", "hau", "yor", "zul")]
    found = means(units, ["family", "script", "region"])
    members = {(m.grouping, m.name): m.members for m in found}
    assert members["family", "Afro-Asiatic"] == ["amh", "hau"] and members["script", "Ethi"] == ["amh"]
    assert members["region", "Southern"] == ["zul"] and members["region", "West"] == ["hau", "yor"]
    assert next(m for m in found if m.name == "Ethi").interval is None


def test_prompts_are_averaged_by_document_first() -> None:
    units = [scored([1.0, 0.0]), scored([1.0, 1.0], prompt=2), scored([0.0, 0.0], language="swa")]
    (mean,) = means(units, ["Africa"])
    assert mean.score == pytest.approx((0.75 + 0.0) / 2)


def test_an_interval_by_hand() -> None:
    """Means 0.2, 0.4 and 0.6: their standard error is 0.2 / sqrt(3), and t with 2 degrees of freedom is 4.303."""
    scores = [[1.0] * n + [0.0] * (10 - n) for n in (2, 4, 6)]
    alone = over_languages([named(dict(enumerate(v, 10 * i))) for i, v in enumerate(scores)])
    assert alone == pytest.approx((max(0, 0.4 - 4.302653 * 0.2 / 3**0.5), 0.4 + 4.302653 * 0.2 / 3**0.5))


def test_an_interval_of_shared_questions_by_hand() -> None:
    """Covariances of two and two: with 1, 2 of 4 right 1/6, with 1, 3 1/12, with 2, 3 1/6; t with 3 is 3.182."""
    scores = [named(dict(enumerate([1.0] * n + [0.0] * (4 - n)))) for n in (1, 2, 3)]
    covariance = (1 / 6 + 1 / 12 + 1 / 6) / 3 / 4
    assert shared_variance(scores) == pytest.approx(covariance)
    half = (4.302653**2 * 0.25**2 / 3 + 3.182446**2 * covariance) ** 0.5
    assert over_languages(scores) == pytest.approx((max(0, 0.5 - half), min(1, 0.5 + half)))


def test_the_same_scores_in_all_languages_are_one_language() -> None:
    """Nothing but the questions varies: the interval is that of one language's mean, however many there are."""
    values = np.random.default_rng(1).binomial(1, 0.4, 300).astype(float)
    interval = over_languages([named(dict(enumerate(values)))] * 5)
    assert interval == pytest.approx(stats.t.interval(0.95, 299, values.mean(), stats.sem(values)))


PARTS = st.lists(st.dictionaries(st.integers(0, 12), st.sampled_from([0.0, 0.5, 1.0]), min_size=1), min_size=2)


@settings(max_examples=40)
@given(PARTS)
def test_shared_variance_is_the_mean_of_all_pairs(languages: list[dict[int, float]]) -> None:
    """One pair after another, by the definition of a covariance; questions in any order, shared by any."""
    found = []
    for one, other in permutations(languages, 2):
        same = sorted(one.keys() & other.keys())
        covariance = statistics.covariance([one[q] for q in same], [other[q] for q in same]) if same[1:] else 0.0
        found.append(covariance * len(same) / len(one) / len(other))
    scores = [*map(named, languages)]
    assert shared_variance(scores) == pytest.approx(max(0.0, statistics.fmean(found)), abs=1e-12)
    interval = over_languages(scores)
    assert interval is not None
    low, high = interval
    middle = statistics.fmean(statistics.fmean(of.values()) for of in languages)
    assert 0 <= low <= middle + 1e-9 and middle - 1e-9 <= high <= 1


def test_the_variance_of_a_mean_is_what_its_parts_add_up_to() -> None:
    """E[var(m)] / k + C, estimated, is the variance of the mean over many draws, whoever shares with whom."""
    rng, groups = np.random.default_rng(2), (0, 0, 0, 1, 1, 2)
    drawn, estimated = [], []
    for _ in range(2000):
        easy = rng.normal(0, 1.5, (3, 60))
        chance = 1 / (1 + np.exp(-easy[list(groups)] - rng.normal(0, 0.3, (6, 1))))
        scores = rng.binomial(1, chance).astype(float)
        languages = [named({(g, q): v for q, v in enumerate(of)}) for g, of in zip(groups, scores, strict=True)]
        drawn.append(scores.mean())
        estimated.append(scores.mean(axis=1).var(ddof=1) / 6 + shared_variance(languages))
    assert np.mean(estimated) == pytest.approx(np.var(drawn, ddof=1), rel=0.1)


def fixed_letter(n: int, ids: list[int] | None = None, **changes: Any) -> CellScores:
    """A language in which the model always picks A: it is right on the same questions as in any other."""
    golds = np.random.default_rng(3).integers(0, 4, 900)[:n]
    order = np.arange(n) if ids is None else np.array(ids)
    keys = order.astype(np.int64) + 10_000
    return scored((golds[order] == 0).astype(float).tolist(), golds=golds[order], keys=keys, **changes)


SEVEN = ["amh", "ibo", "nso", "sna", "tsn", "xho", "zul"]


def width(units: list[CellScores]) -> float:
    (mean,) = means(units, ["Africa"])
    assert mean.interval is not None
    return mean.interval.high - mean.interval.low


def test_a_language_in_another_order_takes_nothing_from_the_interval() -> None:
    """As in Belebele: Afrikaans has the same questions in another order, and joins its group by their keys."""
    declared = {"parallel": [[*SEVEN, "afr"]]}
    seven = [fixed_letter(900, language=c, declared=declared) for c in SEVEN]
    order = np.random.default_rng(4).permutation(900).tolist()
    eighth = fixed_letter(900, order, language="afr", declared=declared)
    assert width([*seven, eighth]) == pytest.approx(width(seven), rel=1e-6)
    (mean,) = means([*seven, eighth], ["Africa"])
    assert mean.alone == [] and mean.differing == 0


def test_a_language_outside_the_group_narrows_the_interval_by_its_share_only() -> None:
    """Seven eighths of the mean are on the same questions as before: their part is 7/8 as wide, and never less."""
    declared = {"parallel": [SEVEN]}
    seven = [fixed_letter(900, language=c, declared=declared) for c in SEVEN]
    outside = scored(np.random.default_rng(5).permutation(seven[0].values).tolist(), language="afr")
    (mean,) = means([*seven, outside], ["Africa"])
    assert mean.alone == ["afr"] and 7 / 8 * width(seven) < width([*seven, outside]) < width(seven)
    assert width([*seven, outside]) > width([scored(seven[0].values.tolist(), language=c) for c in (*SEVEN, "afr")])


def test_questions_with_other_right_answers_are_counted() -> None:
    declared = {"parallel": [SEVEN]}
    seven = [fixed_letter(900, language=c, declared=declared) for c in SEVEN]
    seven[0].golds[:5] = (seven[0].golds[:5] + 1) % 4
    (mean,) = means(seven, ["Africa"])
    assert mean.differing == 5


def test_a_shorter_run_shares_the_questions_that_both_have() -> None:
    declared = {"parallel": [["yor", "hau"]]}
    long = fixed_letter(100, declared=declared)
    short = fixed_letter(100, list(range(0, 100, 2)), language="hau", declared=declared)
    scores = [named(dict(enumerate(long.values))), named(dict(zip(range(0, 100, 2), short.values, strict=True)))]
    (mean,) = means([long, short], ["Africa"])
    assert mean.interval == over_languages(scores) and mean.alone == []


def test_translated_questions_make_the_interval_wider() -> None:
    values = {"yor": [1.0] * 9 + [0.0], "hau": [1.0] * 8 + [0.0] * 2, "swa": [1.0] * 7 + [0.0] * 3}
    apart = [scored(v, language=c) for c, v in values.items()]
    same = [scored(v, language=c, declared={"parallel": [["yor", "hau", "swa"]]}) for c, v in values.items()]
    (own,), (shared,) = means(apart, ["Africa"]), means(same, ["Africa"])
    assert own.score == shared.score and own.interval and shared.interval and shared.interval.low < own.interval.low


def test_spread_over_prompts() -> None:
    units = [scored([v, 0.0, 0.0, 0.0], prompt=n) for n, v in ((3, 1.0), (1, 0.0), (2, 1.0))]
    (spread,) = over_prompts([*units, scored([1.0], language="swa")])
    assert [(c.prompt, c.score) for c in (spread.best, spread.worst)] == [(2, 0.25), (1, 0.0)]
    assert spread.score == pytest.approx(1 / 6)
    assert spread.spread == 0.25 and [c.prompt for c in spread.cells] == [1, 2, 3]


def test_equal_means_are_no_certainty() -> None:
    own = [named({(i, q): v for q, v in enumerate([1.0, 0.0, 1.0, 0.0])}) for i in range(3)]
    wide, narrow = over_languages(own), over_languages([named(dict.fromkeys(range(6), 0.0))] * 2)
    assert wide and wide.high - wide.low > 0.5
    assert narrow and narrow.low == 0.0 and 0.3 < narrow.high < 0.5
