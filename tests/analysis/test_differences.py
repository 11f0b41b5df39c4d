"""Paired differences: tests that reach the level of many comparisons."""

from typing import Any

import numpy as np
import pytest
from tests.analysis.cells import scored

from afrieval.analysis.differences import difference, paired_test
from afrieval.analysis.scores import PromptMean


@pytest.mark.parametrize(
    ("metric", "first", "second"),
    [("token_f1", [0.2], [0.7]), ("word_acc", [[1, 9]], [[8, 9]])],
)
def test_many_comparisons_are_no_reason_to_see_no_difference(metric: str, first: Any, second: Any) -> None:
    """5,000 or 20,000 draws reach no level of 0.05 / 2000."""
    one, other = (PromptMean([scored(values * 60, of=metric)]) for values in (first, second))
    found = difference(one, other, tests=2_000, seed=1)
    assert found.adjusted < 0.05 and found.interval and found.interval.low > 0
    few = paired_test(one, other, np.random.default_rng(1), 0.05 / 2_000, 5_000)
    assert few.p == 1 / 5_001, "as many as are asked for"
    alike = difference(one, one, tests=2_000, seed=1)
    assert alike.adjusted == 1
