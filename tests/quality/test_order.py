"""Rows that are out of order are found, and rows in order are not."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.quality.rows import LANGUAGES, documents, group

from afrieval.quality.order import out_of_order
from afrieval.quality.similarity import order_statistic
from afrieval.quality.together import apart
from afrieval.tasks.documents import Document


def reordered(
    rows: list[Document], order: list[int], names: Sequence[str] = ("premise", "hypothesis")
) -> list[Document]:
    """Returns rows with some texts of others; right answers stay."""
    texts = [{name: rows[at].fields[name] for name in names} for at in order]
    return [replace(d, fields=d.fields | of) for d, of in zip(rows, texts, strict=True)]


@pytest.mark.parametrize("seed", range(5))
def test_rows_in_order_are_not_a_finding(seed: int) -> None:
    found = group(documents(seed=seed))
    assert not [*out_of_order(found), *apart(found)]


@settings(max_examples=15)
@given(st.sampled_from(LANGUAGES), st.permutations(range(60)))
def test_a_shuffled_language_is_found_and_no_other(language: str, order: list[int]) -> None:
    rows = documents()
    in_place = sum(at == place for place, at in enumerate(order))
    found = [*out_of_order(group(rows | {language: reordered(rows[language], order)}))]
    assert in_place > 5 or [(f.language, f.whole, len(f.rows)) for f in found] == [(language, True, 60)]


def test_two_rows_that_changed_places_are_found_by_number() -> None:
    rows = documents()
    order = [1, 0, *range(2, 60)]
    (finding,) = out_of_order(group(rows | {"hau": reordered(rows["hau"], order)}))
    assert (finding.language, finding.rows, finding.whole) == ("hau", [0, 1], False)
    assert finding.each == {0: "has the text of 1", 1: "has the text of 0"}


def test_texts_that_do_not_belong_together_are_found_though_only_one_moved() -> None:
    rows = documents()
    order = [*range(1, 60), 0]
    found = group(rows | {"swa": reordered(rows["swa"], order, ("hypothesis",))})
    assert [(f.kind, f.language) for f in [*out_of_order(found), *apart(found)]] == [
        ("order", "swa"),
        ("together", "swa"),
    ]


def test_the_statistic_is_that_of_all_permutations() -> None:
    similarity = np.random.default_rng(0).random((30, 30)) + np.eye(30) / 2
    rng = np.random.default_rng(1)
    shuffled = [np.trace(similarity[rng.permutation(30)]) for _ in range(20_000)]
    expected = (np.trace(similarity) - np.mean(shuffled)) / np.std(shuffled)
    assert order_statistic(similarity) == pytest.approx(expected, rel=0.03)
    assert order_statistic(np.ones((30, 30))) == 0
