"""Coefficients of agreement against krippendorff 0.9.0 and scikit-learn 1.9.1."""

import numpy as np
import pytest

from afrieval.scoring.statistics.agreement import krippendorff, weighted_kappa

LEVELS = list("12345")
RATERS = "55442452...55.351412522..2533.", "54453...1..5.1.5.313532.5.533.", "54.52452.23.514.25135222..4.34"
RATINGS = [{str(at): level for at, level in enumerate(of) if level != "."} for of in zip(*RATERS, strict=True)]
ONE, OTHER = "544534432225533515135322424334", "544534511335413515145222525323"


@pytest.mark.parametrize(("scale", "alpha"), [(False, 0.5812064965197217), (True, 0.9038491028983284)])
def test_alpha_with_missing_ratings(scale: bool, alpha: float) -> None:
    found = krippendorff(RATINGS, LEVELS, scale)
    assert found is not None and found.value == pytest.approx(alpha) and found.n == 23
    assert found.interval is not None and found.interval.low < alpha < found.interval.high


def test_kappa() -> None:
    quadratic, plain = (weighted_kappa(ONE, OTHER, LEVELS, scale) for scale in (True, False))
    assert quadratic is not None and quadratic.value == pytest.approx(0.8259010384850336)
    assert plain is not None and plain.value == pytest.approx(0.45378151260504207)
    assert quadratic.n == 30 and quadratic.interval is not None
    assert quadratic.interval.low < quadratic.value < quadratic.interval.high


def test_all_agree_or_nothing_can_be_said() -> None:
    assert krippendorff([{"a": "1", "b": "1"}, {"a": "2", "b": "2"}], LEVELS, True) == (1.0, None, 2)
    assert krippendorff([{"a": "1", "b": "1"}] * 9, LEVELS, True) is None
    assert krippendorff([{"a": "1", "b": "2"}, {"a": "2"}, {"b": "1"}], LEVELS, True) is None
    assert weighted_kappa("111", "111", LEVELS, True) is None and weighted_kappa("1", "2", LEVELS, True) is None
    other = weighted_kappa(["refused", "complied"], ["complied", "refused"], ["refused", "complied"], False)
    assert other is not None and other.value == -1


def test_the_interval_covers_the_agreement_of_endless_answers() -> None:
    rng, covers = np.random.default_rng(5), 0
    for _ in range(20):
        a = rng.integers(1, 6, 60)
        b = np.clip(a + rng.integers(-1, 2, 60), 1, 5)
        found = weighted_kappa([*map(str, a)], [*map(str, b)], LEVELS, True)
        assert found is not None and found.interval is not None
        covers += found.interval.low <= 0.8665 <= found.interval.high
    assert covers >= 17
