"""Which questions of languages are one question: by key, by row, and never against the right answers."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.analysis.cells import scored

from afrieval.analysis.contrasts import contrasts
from afrieval.analysis.means import numbered
from afrieval.results.cell_scores import CellScores

RNG = np.random.default_rng(6)
GOLDS = RNG.integers(0, 4, 200)
ALL = {"parallel": [["amh", "hau", "yor", "zul"]]}


def asked(language: str, order: list[int], keys: bool = True, **changes: Any) -> CellScores:
    """A language that has questions in some order, each scored by its own number."""
    given: dict[str, Any] = {"declared": ALL, "keys": np.array(order) * 7 - 300 if keys else None, **changes}
    return scored([q / 200 for q in order], language=language, golds=GOLDS[order], **given)


def pairs(one: CellScores, other: CellScores) -> set[tuple[int, int]]:
    """The scores, and so the questions, that two units have under one number."""
    there = dict(zip(other.ids.tolist(), other.values.tolist(), strict=True))
    return {
        (round(value * 200), round(there[number] * 200))
        for number, value in zip(one.ids.tolist(), one.values.tolist(), strict=True)
        if number in there
    }


ORDER = RNG.permutation(200).tolist()


@given(st.lists(st.integers(0, 199), unique=True, min_size=1), st.lists(st.integers(0, 199), unique=True, min_size=1))
def test_keys_pair_the_same_questions_in_any_order(first: list[int], second: list[int]) -> None:
    one, other = numbered([asked("yor", first), asked("hau", second)])
    assert pairs(one, other) == {(q, q) for q in set(first) & set(second)}
    assert one.ids.tolist() == sorted(one.ids) and sorted(one.values) == sorted(q / 200 for q in first)


def test_without_keys_rows_are_paired() -> None:
    one, other = numbered([asked(code, list(range(200)), keys=False) for code in ("yor", "hau")])
    assert pairs(one, other) == {(q, q) for q in range(200)}


def test_a_run_with_keys_and_an_older_one_are_paired_by_row() -> None:
    """The older run's Amharic is in another order: its right answers show it."""
    new, old = asked("yor", list(range(200))), asked("hau", list(range(200)), keys=False)
    shuffled = asked("amh", ORDER, keys=False)
    for units in ([new, old, shuffled], [shuffled, old, new], [new, shuffled, old]):
        found = {u.language: u for u in numbered(units)}
        assert pairs(found["yor"], found["hau"]) == {(q, q) for q in range(200)}
        assert not pairs(found["amh"], found["yor"]) and not pairs(found["amh"], found["hau"])


@pytest.mark.parametrize("choices", [2, 3, 4])
def test_rows_in_another_order_than_declared_are_not_paired(choices: int) -> None:
    golds = np.random.default_rng(choices).integers(0, choices, 300)
    right, wrong = (dict[str, Any](golds=g, declared=ALL) for g in (golds, np.roll(golds, 1)))
    for languages in (("yor", "hau"), ("yor", "hau", "amh"), ("yor", "hau", "amh", "zul")):
        units = [scored([0.0] * 300, language=c, **(wrong if c == "hau" else right)) for c in languages]
        found = {u.language: u for u in numbered(units)}
        alone = found.pop("hau")
        assert not any(pairs(alone, u) for u in found.values())
        assert all(len(np.intersect1d(u.ids, found["yor"].ids)) == 300 for u in found.values())


def test_a_few_other_right_answers_cost_only_their_questions() -> None:
    """As in AfriMMLU's Luganda, where 13 of 500 differ."""
    golds = GOLDS.copy()
    golds[:13] = (golds[:13] + 1) % 4
    units = [asked("yor", list(range(200))), replace(asked("hau", list(range(200))), golds=golds)]
    ((row,),) = (c.rows for c in contrasts(units, "language", 1))
    assert (row.n, row.dropped) == (187, 13)


def test_only_languages_of_a_group_are_paired() -> None:
    """A language that two groups have in common makes them one: a translation of a translation is one."""
    declared = {"parallel": [["yor", "hau"], ["amh", "zul"], ["zul", "swa"]]}
    units = [asked(code, list(range(200)), declared=declared) for code in ("yor", "hau", "amh", "swa", "kin")]
    yor, hau, amh, swa, kin = numbered(units)
    assert pairs(yor, hau) and pairs(amh, swa)
    assert not any(pairs(one, other) for one in (yor, hau) for other in (amh, swa)) and not pairs(kin, yor)


def test_prompts_of_a_language_keep_the_same_numbers() -> None:
    units = [asked("yor", ORDER), asked("yor", ORDER, prompt=2), asked("hau", list(range(200)))]
    one, two, _ = numbered(units)
    assert one.ids.tolist() == two.ids.tolist()


def test_contrasts_between_languages_pair_by_key() -> None:
    """The scores are the same question by question, and in another order they look otherwise."""
    values = RNG.binomial(1, 0.5, 200).astype(float)
    units = [
        replace(asked(code, order), measures={"acc": values[order, None]})
        for code, order in (("yor", list(range(200))), ("hau", ORDER))
    ]
    ((row,),) = (c.rows for c in contrasts(units, "language", 1))
    assert (row.n, row.dropped, row.gained, row.lost, row.difference) == (200, 0, 0, 0, 0.0)
