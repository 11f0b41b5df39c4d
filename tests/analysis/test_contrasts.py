"""Contrasts by hand: what is paired, what is not and why, and what it says in words."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy import stats
from tests.analysis.cells import scored

from afrieval._util.errors import UserError
from afrieval.analysis.contrasts import Contrast, contrasts
from afrieval.analysis.run_contrasts import check_compared
from afrieval.results.cell_scores import CellScores
from afrieval.results.identity import Selection
from afrieval.scoring.metrics import metric


def only(units: list[CellScores], dimension: str) -> Contrast:
    (found,) = contrasts(units, dimension, 1)
    return found


def test_what_differs_between_tasks_is_not_what_keeps_runs_apart() -> None:
    of_tasks = [scored([1.0], task="a", answer_form="text"), scored([1.0], task="b", answer_form="generate")]
    others = [replace(cell, prompt=2) for cell in of_tasks]
    with pytest.raises(UserError, match=r"cells differ in prompt \("):
        check_compared([], of_tasks + others, needed=True)


def native(values: list[float], **changes: Any) -> CellScores:
    made = scored(values, prompt_language="native", **changes)
    return replace(made, comparable_on={**made.comparable_on, "prompt text": "native"})


def test_one_prompt_is_compared_by_mcnemar() -> None:
    first, second = [1.0] * 5 + [0.0] * 15, [0.0] * 1 + [1.0] * 4 + [1.0] * 12 + [0.0] * 3
    (row,) = only([scored(first), native(second)], "prompt_language").rows
    assert (row.first, row.second, row.n, row.gained, row.lost) == (0.25, 0.8, 20, 12, 1)
    assert row.p == row.adjusted == pytest.approx(stats.binomtest(1, 13).pvalue)
    assert row.interval and row.interval.low < 0.55 < row.interval.high and row.verdict == 1


def test_nothing_is_concluded_from_first_rows_on_either_side() -> None:
    first, second = scored([0.0] * 40), native([1.0] * 40)
    for selection in (Selection(), Selection("sample", 40, 204), Selection("first", 40, 204)):
        for pair in ([first, replace(second, selection=selection)], [replace(first, selection=selection), second]):
            (row,) = only(pair, "prompt_language").rows
            assert row.adjusted < 0.001 and row.verdict == int(selection.kind != "first")


def test_several_prompts_are_averaged_first_and_those_of_one_side_stay_out() -> None:
    units = [
        scored([1.0, 0.0, 1.0, 0.0]), scored([1.0, 0.0, 0.0, 0.0], prompt=2), scored([1.0] * 4, prompt=3),
        native([1.0, 1.0, 0.0, 0.0]), native([1.0, 0.0, 0.0, 1.0], prompt=2),
    ]  # fmt: skip
    (row,) = only(units, "prompt_language").rows
    assert (row.prompts, row.first, row.second) == ([1, 2], 3 / 8, 4 / 8)
    assert (row.gained, row.lost) == (2, 1) and 0.5 < row.p <= 1.0


def test_only_documents_of_both_sides_with_the_same_right_answer_count() -> None:
    one = scored([1.0, 1.0, 0.0, 0.0], ids=[0, 1, 2, 3])
    other = native([1.0, 1.0, 1.0, 0.0], ids=[1, 2, 3, 4], golds=np.array([1, 2, 0, 0]))
    (row,) = only([one, other], "prompt_language").rows
    assert (row.n, row.dropped, row.first, row.second) == (2, 3, 0.5, 1.0)


@pytest.mark.parametrize("name", ["task version", "data", "few-shot rows"])
def test_what_does_not_match_is_refused_and_named(name: str) -> None:
    other = native([1.0, 0.0])
    found = only(
        [scored([1.0, 0.0]), replace(other, comparable_on={**other.comparable_on, name: "other"})], "prompt_language"
    )
    assert found.rows == [] and name in found.refused[0] and "other" in found.refused[0]


def test_prompts_of_other_words_are_no_model_comparison() -> None:
    other = scored([0.0, 1.0], model="n")
    assert only([scored([1.0, 0.0]), other], "model").rows
    changed = replace(other, comparable_on={**other.comparable_on, "prompt text": "q"})
    assert "prompt text differs" in only([scored([1.0, 0.0]), changed], "model").refused[0]


def test_settings_that_may_differ_are_told() -> None:
    one, other = (
        scored([1.0, 0.0], model=m, recorded_settings={"dtype": d, "device": "cpu"})
        for m, d in (("m", "f32"), ("n", "bf16"))
    )
    assert only([one, other], "model").settings == ["dtype: f32 and bf16"]


def test_p_is_adjusted_over_the_languages_of_a_contrast() -> None:
    """Of 6 gains in 6, p is 1/32: seen alone it is a difference, beside fifteen other languages it is none."""
    gains = [1.0] * 6 + [0.0] * 4
    alone = only([scored([0.0] * 10), native(gains)], "prompt_language")
    assert alone.rows[0].verdict == 1
    codes = ["hau", "swa", "zul", "ibo", "kin"]
    many = [u for c in codes for u in (scored([0.0] * 10, language=c), native([0.0] * 10, language=c))]
    rows = only([scored([0.0] * 10), native(gains), *many], "prompt_language").rows
    assert rows[0].adjusted == pytest.approx(6 / 32) and rows[0].verdict == 0


def test_other_dimensions_stay_apart() -> None:
    units = [u for shots in (0, 5) for u in (scored([1.0, 0.0], shots=shots), native([0.0, 0.0], shots=shots))]
    assert [c.fixed for c in contrasts(units, "prompt_language", 1)] == [{"shots": 0}, {"shots": 5}]


def test_languages_need_rows_that_are_translations() -> None:
    declared = {"parallel": [["yor", "hau"]]}
    units = [scored([1.0, 0.0, 1.0], language=c, declared=declared) for c in ("yor", "hau")]
    units[1] = replace(
        units[1], comparable_on={**units[1].comparable_on, "data": "of Hausa"}, golds=np.array([0, 1, 3])
    )
    (row,) = only(units, "language").rows
    assert (row.n, row.dropped) == (2, 1)
    apart = only([*units[:1], scored([1.0, 0.0, 1.0], language="zul", declared=declared)], "language")
    assert apart.refused == [
        "Yoruba (yor), prompt 1: no rows of Yoruba (yor) and Zulu (zul) are known to be translations"
    ]


def test_all_pairs_of_models_in_the_order_given() -> None:
    units = [scored([1.0, 0.0], model=m) for m in ("c", "a", "b")]
    assert [(c.first, c.second) for c in contrasts(units, "model", 1)] == [("c", "a"), ("c", "b"), ("a", "b")]


def test_pairs_of_languages_are_adjusted_together() -> None:
    declared = {"parallel": [["yor", "hau", "swa", "zul"]]}
    gains = [1.0] * 6 + [0.0] * 4
    units = [
        scored(gains if c == "zul" else [0.0] * 10, language=c, declared=declared) for c in ("yor", "hau", "swa", "zul")
    ]
    found = contrasts(units, "language", 1)
    of_zulu = [c.rows[0].adjusted for c in found if c.second == "zul"]
    assert len(found) == 6 and of_zulu == pytest.approx([6 / 32] * 3)


def test_prompt_languages_have_a_metric_of_their_own_if_all_cells_have_it() -> None:
    both = {"acc": metric("acc"), "acc_matched": metric("acc_matched")}
    known: Any = {"contrast": "acc_matched", "metrics": both, "lengths": (4, 12, 3)}
    acc, matched = np.array([[1.0], [0.0]]), np.array([[0.0], [0.0]])
    of = {"acc": acc, "acc_matched": matched}
    english, own = scored([1.0, 0.0], measures=of, **known), native([1.0, 0.0], measures=of, **known)
    found = only([english, own], "prompt_language")
    assert (found.metric, found.is_score, found.by_length) == (both["acc_matched"], False, False)
    assert found.rows[0].first == 0.0
    older = replace(own, contrast="")
    found = only([english, older], "prompt_language")
    assert (found.metric, found.is_score, found.by_length) == (both["acc"], True, True)
    assert found.rows[0].first == 0.5
    letters = [replace(cell, contrast="", lengths=(1, 1, 1)) for cell in (english, own)]
    assert not only(letters, "prompt_language").by_length
    models = [replace(cell, prompt_language="eng", model=name) for cell, name in ((english, "m"), (english, "n"))]
    assert only(models, "model").metric == both["acc"]


def test_cells_of_other_sizes_are_named_where_a_score_depends_on_all_questions() -> None:
    def named(name: str) -> list[str]:
        of: Any = {"metrics": {name: metric(name)}}
        sides = [make(values, **of, measures={name: np.array(values)[:, None]}) for make, values in pairs]
        return only(sides, "prompt_language").settings

    pairs: Any = ((scored, [1.0, 0.0, 1.0]), (native, [1.0, 0.0]))
    assert named("acc_matched") == ["number of questions that acc_matched depends on: 3 and 2"]
    assert named("acc") == []
