"""Samples of rows: nested, unbiased, in proportion, and the same questions in every language."""

from collections import Counter
from collections.abc import Hashable, Sequence
from itertools import pairwise
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from afrieval.tasks.data.sampling import chosen_rows, order_of_numbers, sample_order

CLASSES = st.lists(st.integers(0, 4), min_size=1, max_size=60)


def order(
    classes: Sequence[Hashable], key: str = "0", names: list[str] | None = None, *fields: Sequence[Hashable]
) -> list[int]:
    return sample_order(names or [str(place) for place in range(len(classes))], [classes, *fields], key)


@given(CLASSES, st.text(max_size=3))
def test_samples_are_nested_and_in_proportion(classes: list[int], key: str) -> None:
    found, sizes, taken = order(classes, key), Counter(classes), Counter[int]()
    assert sorted(found) == [*range(len(classes))], "a sample is the beginning of one order of all rows"
    for n, place in enumerate(found, 1):
        taken[classes[place]] += 1
        assert all(abs(taken[of] - n * size / len(classes)) < 2 for of, size in sizes.items())


@given(st.lists(st.tuples(st.integers(0, 1), st.integers(0, 5)), min_size=1, max_size=60))
def test_further_fields_are_spread_inside_the_values_of_the_first(rows: list[tuple[int, int]]) -> None:
    first, second = zip(*rows, strict=True)
    found, sizes, taken = order(second, "0", None, first), Counter(rows), Counter[tuple[int, int]]()
    if len({*first}) > len({*second}):
        return
    of_first = Counter(first)
    for n, place in enumerate(found, 1):
        taken[rows[place]] += 1
        for value, size in of_first.items():
            inside = sum(count for (own, _), count in taken.items() if own == value)
            assert abs(inside - n * size / len(rows)) < 2
            assert all(abs(taken[row] - inside * sizes[row] / size) < 2 for row in sizes if row[0] == value)


def test_over_seeds_each_row_is_as_likely_at_each_place() -> None:
    classes, seeds = [0, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2], 2000
    places = np.array([np.argsort(order(classes, str(seed))) for seed in range(seeds)])
    counts = np.array([np.bincount(row, minlength=len(classes)) for row in places.T])  # of each row at each place
    expected = seeds / len(classes)
    assert np.abs(counts - expected).max() < 4.5 * np.sqrt(expected), "about 4.5 standard errors of 121 counts"


@given(CLASSES, st.randoms())
def test_another_order_of_rows_and_other_names_of_classes_give_the_same_questions(
    classes: list[int], random: Random
) -> None:
    names, there = [f"question {place}" for place in range(len(classes))], [*range(len(classes))]
    random.shuffle(there)
    other = order([f"translated {9 - classes[at]}" for at in there], "0", [names[at] for at in there])
    assert [names[place] for place in order(classes, "0", names)] == [names[there[place]] for place in other]


@settings(max_examples=60)
@given(st.lists(st.integers(0, 2), min_size=30, max_size=300), st.integers(0, 3), st.data())
def test_languages_that_differ_in_some_classes_share_nearly_all_questions(
    classes: list[int], k: int, data: st.DataObject
) -> None:
    changed = {data.draw(st.integers(0, len(classes) - 1)) for _ in range(k)}
    other = [3 - of if place in changed else of for place, of in enumerate(classes)]
    one, two = order(classes), order(other)
    for n in range(1, len(classes)):
        assert len({*one[:n]} - {*two[:n]}) <= len(changed) + 4 if changed else one == two


def test_a_sample_of_all_rows_or_more_is_all_of_them() -> None:
    for limit, sample in ((None, None), (None, 5), (None, 6), (5, None)):
        found = chosen_rows(5, limit, sample, 42, lambda seed: pytest.fail("no order is needed"))
        assert ([*found.indices], found.total, found.ranks, found.identity) == ([0, 1, 2, 3, 4], 5, {}, {})


def test_a_sample_has_its_rows_in_the_order_of_the_file_and_their_ranks() -> None:
    found = chosen_rows(9, None, 3, 42, lambda seed: [7, 2, 5, 0, 1, 3, 4, 6, 8])
    assert (found.indices, found.ranks) == ([2, 5, 7], {7: 0, 2: 1, 5: 2})
    assert found.identity == {"selection": {"by": "eval.sample", "seed": 42}}
    after = found.after(2)
    assert (after.indices, after.ranks) == ([0, 1, 4, 7, 9], {0: 0, 1: 1, 9: 2, 4: 3, 7: 4})


def test_rows_of_which_nothing_is_known_have_one_order_whatever_their_number() -> None:
    orders = [order_of_numbers(of, 42) for of in (10, 11, 500)]
    for small, large in pairwise(orders):
        assert small == [number for number in large if number < len(small)]
    assert order_of_numbers(10, 43) != orders[0]
