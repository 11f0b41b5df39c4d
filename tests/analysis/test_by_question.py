"""Scores by question as arrays give the numbers that a dict gives, to the bit."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from afrieval.analysis.means import over_languages
from afrieval.analysis.ranks import Contest, pairs
from afrieval.analysis.scores import ByQuestion, by_question, places
from afrieval.analysis.uncertainty import TaskWeight, half_width

ROWS = st.lists(st.tuples(st.integers(0, 6), st.integers(-1, 2), st.sampled_from([0.0, 1.0, 1 / 3])), min_size=1)


def scores(rows: list[tuple[int, int, float]]) -> tuple[ByQuestion, dict[Any, float]]:
    numbers, golds, values = (np.array(of) for of in zip(*rows, strict=True))
    return by_question(numbers, golds, values), {(number, gold): value for number, gold, value in rows}


@given(ROWS)
def test_it_is_a_mapping(rows: list[tuple[int, int, float]]) -> None:
    found, plain = scores(rows)
    assert list(found.items()) == list(plain.items()) and found == plain
    assert found == scores(rows)[0] and list(found.times(2.0).values()) == [2.0 * value for value in plain.values()]
    assert (0, 7) not in found
    with pytest.raises(KeyError):
        found[0, 7]


@settings(max_examples=50)
@given(st.lists(ROWS, min_size=2, max_size=4))
def test_everything_computed_from_it_is_equal(languages: list[list[tuple[int, int, float]]]) -> None:
    arrays, plain = zip(*map(scores, languages), strict=True)
    columns, n = places(arrays)
    named, number = places(plain)
    assert n == number and [of.tolist() for of in columns] == [of.tolist() for of in named]

    def computed(of: tuple[Mapping[Any, float], ...]) -> list[Any]:
        shares = [TaskWeight(0.5, "d", dict(enumerate(of))), TaskWeight(0.5, "e", {0: of[0]})]
        found = pairs(Contest(1.0, "d", [{"l": of[0], "m": of[1]}, {"l": of[1], "m": of[0]}], (0.0, 100.0)))
        return [over_languages(of), half_width(shares), *(each.tolist() for each in found)]

    assert str(computed(arrays)) == str(computed(plain)), "NaN is equal too"


def test_the_same_questions_are_one_array() -> None:
    one, other = (scores([(1, 0, value), (2, 0, 1.0)])[0] for value in (0.0, 1.0))
    assert one.codes is other.codes and places([one, other])[1] == 2
