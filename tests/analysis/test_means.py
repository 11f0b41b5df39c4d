"""Means over languages: members, groups, and an interval that is wider than that of documents alone."""

import numpy as np
import pytest
from tests.analysis.units import unit

from afrieval.analysis.means import hierarchical, means
from afrieval.analysis.spread import spreads


def test_african_languages_count_the_same_and_no_others() -> None:
    units = [
        unit([1.0] * 10, language="yor"), unit([0.0] * 4, language="swa"),
        unit([1.0], language="eng"), unit([1.0], language="fra"),
    ]  # fmt: skip
    (mean,) = means(units, ["Africa"], 1)
    assert (mean.members, mean.score) == (["swa", "yor"], 0.5)
    assert mean.interval is not None and (mean.interval.low, mean.interval.high) == (0.0, 1.0)


def test_groups_by_family_script_and_region() -> None:
    units = [unit([1.0, 0.0], language=c) for c in ("amh", "hau", "yor", "zul")]
    found = means(units, ["family", "script", "region"], 1)
    members = {(m.grouping, m.name): m.members for m in found}
    assert members["family", "Afro-Asiatic"] == ["amh", "hau"] and members["script", "Ethi"] == ["amh"]
    assert members["region", "Southern"] == ["zul"] and members["region", "West"] == ["hau", "yor"]
    assert next(m for m in found if m.name == "Ethi").interval is None


def test_prompts_are_averaged_by_document_first() -> None:
    units = [unit([1.0, 0.0]), unit([1.0, 1.0], prompt=2), unit([0.0, 0.0], language="swa")]
    (mean,) = means(units, ["Africa"], 1)
    assert mean.score == pytest.approx((0.75 + 0.0) / 2)


def test_the_hierarchical_bootstrap_is_that_of_a_slow_one() -> None:
    rng = np.random.default_rng(0)
    languages = [rng.integers(0, 2, 30).astype(float) * (i % 2) for i in range(6)]
    fast = hierarchical(languages, np.random.default_rng(1), 20_000)
    slow = []
    for _ in range(4_000):
        drawn = rng.integers(0, 6, 6)
        slow.append(np.mean([rng.choice(languages[i], len(languages[i])).mean() for i in drawn]))
    assert fast == pytest.approx(tuple(np.quantile(slow, [0.025, 0.975])), abs=0.012)


def test_spread_over_prompts() -> None:
    units = [unit([v, 0.0, 0.0, 0.0], prompt=n) for n, v in ((3, 1.0), (1, 0.0), (2, 1.0))]
    (spread,) = spreads([*units, unit([1.0], language="swa")])
    assert (spread.best, spread.highest, spread.worst, spread.lowest) == (2, 0.25, 1, 0.0)
    assert spread.mean == pytest.approx(1 / 6)
    assert spread.spread == 0.25 and spread.prompts == [1, 2, 3]
