"""Agreement with published verdicts: four counts against counting by hand."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from afrieval.analysis.published_evaluations import agreement

PAIRS = st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=80)


@given(PAIRS)
def test_the_counts_add_up_and_swapping_mirrors_them(pairs: list[tuple[bool, bool]]) -> None:
    ours, published = (np.array([float(pair[side]) for pair in pairs]) for side in (0, 1))
    found, swapped = agreement(ours, published), agreement(published, ours)
    counted = Counter(pairs)
    by_hand = [counted[kind] for kind in ((True, True), (True, False), (False, True), (False, False))]
    assert [found.right, found.here, found.there, found.neither] == by_hand and found.n == len(pairs)
    assert (swapped.right, swapped.here, swapped.there, swapped.neither) == (
        found.right,
        found.there,
        found.here,
        found.neither,
    )
    assert found.same == swapped.same == pytest.approx(sum(a == b for a, b in pairs) / len(pairs))
    assert found.p == swapped.p
    assert found.scores == swapped.scores[::-1] == pytest.approx((ours.mean(), published.mean()))
