"""Rows that are out of order are found, and rows in order are not."""

import random
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.tools.data_checks.rows import LANGUAGES, documents, group, word

from afrieval.tasks.data.document import Document
from afrieval.tools.data_checks.groups import Group
from afrieval.tools.data_checks.pairing import order_statistic, out_of_order
from afrieval.tools.data_checks.rows import unrelated_columns


def reordered(
    rows: list[Document], order: list[int], names: Sequence[str] = ("premise", "hypothesis")
) -> list[Document]:
    """Returns rows with some texts of others; right answers stay."""
    texts = [{name: rows[at].fields[name] for name in names} for at in order]
    return [replace(d, fields=d.fields | of) for d, of in zip(rows, texts, strict=True)]


@settings(max_examples=8)
@given(st.sampled_from(LANGUAGES), st.permutations(range(60)))
def test_a_shuffled_language_is_found_and_no_other(language: str, order: list[int]) -> None:
    rows = documents()
    in_place = sum(at == place for place, at in enumerate(order))
    found = [*out_of_order(group(rows | {language: reordered(rows[language], order)}))]
    assert in_place > 5 or [(f.language, f.whole, len(f.rows)) for f in found] == [(language, True, 60)]


def sparse(n: int, seed: int) -> Group:
    """Returns rows of two languages in order, most of which share nothing, and some a name with another row."""
    rng = random.Random(seed)
    names = [word(rng, 8) for _ in range(n // 3)]
    rows = {}
    for code in ("eng", "swa"):
        own = [word(rng, rng.randint(3, 9)) for _ in range(300)]
        rows[code] = [
            Document(at, {"text": " ".join([*rng.choices(own, k=5), rng.choice(names)])}, ("yes", "no"), at % 2)
            for at in range(n)
        ]
        for at in range(0, n, 3):
            shared = f"{rows[code][at].fields['text']} place{at:04}x"
            rows[code][at] = replace(rows[code][at], fields={"text": shared})
    return Group("test", rows, {}, ("yes", "no"))


@pytest.mark.parametrize("seed", range(3))
def test_rows_that_share_nothing_with_their_translations_are_not_a_finding(seed: int) -> None:
    assert not [*out_of_order(sparse(300, seed))]


def pair(order: list[int]) -> tuple[list[Document], Group]:
    rows = documents()
    changed = reordered(rows["swa"], order)
    return changed, group({"eng": rows["eng"], "swa": changed})


def test_two_languages_do_not_say_which_of_them_is_out_of_order() -> None:
    changed, both = pair([1, 0, *range(2, 60)])
    found = [*out_of_order(both)]
    assert [(f.kind, f.language, f.rows) for f in found] == [("pair", "eng", [0, 1]), ("pair", "swa", [0, 1])]
    known = [replace(d, defect="changed places") if d.id < 2 else d for d in changed]
    (finding,) = out_of_order(group({"eng": documents()["eng"], "swa": known}))
    assert (finding.language, finding.rows) == ("swa", [0, 1]), "what is known of one explains the other"


def test_two_languages_that_do_not_match_at_all_are_not_judged() -> None:
    _, both = pair(random.Random(0).sample(range(60), 60))
    assert {(f.kind, f.whole, f.is_new) for f in out_of_order(both)} == {("unsure", True, False)}


def test_a_language_with_a_known_order_of_its_own_is_compared_and_does_not_count() -> None:
    rows = documents()
    order = random.Random(0).sample(range(60), 60)
    known = [replace(d, defect="out of order") for d in reordered(rows["hau"], order)]
    found = [*out_of_order(group({"eng": rows["eng"], "swa": rows["swa"], "hau": known}))]
    assert [(f.kind, f.language, f.whole) for f in found] == [("order", "hau", True)]
    alone = group({"eng": rows["eng"], "hau": known})
    assert {f.kind for f in out_of_order(alone)} == {"unsure"}
    assert not [*out_of_order(group({"hau": known, "swa": known}))]


def test_a_language_with_nothing_in_common_with_the_others_is_not_judged() -> None:
    rows = documents()
    strange = [replace(d, fields=dict.fromkeys(d.fields, chr(0x2D30 + d.id % 30) * 9)) for d in rows["yor"]]
    del rows["yor"]
    found = [*out_of_order(group(rows | {"tzm": strange}))]
    assert [(f.kind, f.language, f.is_new) for f in found] == [("unsure", "tzm", False)]


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
    assert [(f.kind, f.language) for f in [*out_of_order(found), *unrelated_columns(found)]] == [
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
