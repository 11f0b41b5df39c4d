"""Means over languages: members, groups, and an interval that is wider than that of documents alone."""

import numpy as np
import pytest
from tests.analysis.units import unit

from afrieval.analysis.means import means, over_languages
from afrieval.analysis.spread import spreads


def test_african_languages_count_the_same_and_no_others() -> None:
    units = [
        unit([1.0] * 10, language="yor"), unit([0.0] * 4, language="swa"),
        unit([1.0], language="eng"), unit([1.0], language="fra"),
    ]  # fmt: skip
    (mean,) = means(units, ["Africa"])
    assert (mean.members, mean.score) == (["swa", "yor"], 0.5)
    assert mean.interval is not None and (mean.interval.low, mean.interval.high) == (0.0, 1.0)


def test_groups_by_family_script_and_region() -> None:
    units = [unit([1.0, 0.0], language=c) for c in ("amh", "hau", "yor", "zul")]
    found = means(units, ["family", "script", "region"])
    members = {(m.grouping, m.name): m.members for m in found}
    assert members["family", "Afro-Asiatic"] == ["amh", "hau"] and members["script", "Ethi"] == ["amh"]
    assert members["region", "Southern"] == ["zul"] and members["region", "West"] == ["hau", "yor"]
    assert next(m for m in found if m.name == "Ethi").interval is None


def test_prompts_are_averaged_by_document_first() -> None:
    units = [unit([1.0, 0.0]), unit([1.0, 1.0], prompt=2), unit([0.0, 0.0], language="swa")]
    (mean,) = means(units, ["Africa"])
    assert mean.score == pytest.approx((0.75 + 0.0) / 2)


def test_an_interval_by_hand() -> None:
    """Means 0.2, 0.4 and 0.6: their standard error is 0.2 / sqrt(3), and t with 2 degrees of freedom is 4.303."""
    languages = [np.array([1.0] * n + [0.0] * (10 - n)) for n in (2, 4, 6)]
    alone = over_languages(languages)
    assert alone == pytest.approx((max(0, 0.4 - 4.302653 * 0.2 / 3**0.5), 0.4 + 4.302653 * 0.2 / 3**0.5))
    documents = np.mean(languages, axis=0)
    both = over_languages(languages, languages)
    error = (0.04 / 3 + documents.var(ddof=1) / 10) ** 0.5
    assert both.high == pytest.approx(min(1.0, 0.4 + 4.302653 * error)) and both.high > alone.high


def test_translated_questions_make_the_interval_wider() -> None:
    values = {"yor": [1.0] * 9 + [0.0], "hau": [1.0] * 8 + [0.0] * 2, "swa": [1.0] * 7 + [0.0] * 3}
    apart = [unit(v, language=c) for c, v in values.items()]
    same = [unit(v, language=c, declared={"parallel": [["yor", "hau", "swa"]]}) for c, v in values.items()]
    (own,), (shared,) = means(apart, ["Africa"]), means(same, ["Africa"])
    assert own.score == shared.score and own.interval and shared.interval and shared.interval.low < own.interval.low


def test_spread_over_prompts() -> None:
    units = [unit([v, 0.0, 0.0, 0.0], prompt=n) for n, v in ((3, 1.0), (1, 0.0), (2, 1.0))]
    (spread,) = spreads([*units, unit([1.0], language="swa")])
    assert (spread.best, spread.highest, spread.worst, spread.lowest) == (2, 0.25, 1, 0.0)
    assert spread.mean == pytest.approx(1 / 6)
    assert spread.spread == 0.25 and spread.prompts == [1, 2, 3]


def test_equal_means_are_no_certainty() -> None:
    same = [np.array([1.0, 0.0, 1.0, 0.0])] * 3
    assert over_languages(same).high - over_languages(same).low > 0.5
    low, high = over_languages([np.zeros(6)] * 2)
    assert low == 0.0 and 0.3 < high < 0.5
