"""Sentences and places that say who is best, how sure that is, and what native prompts change."""

from dataclasses import replace
from typing import Any

import numpy as np
from tests.analysis.cells import scored
from tests.analysis.test_standings import GOOD, WEAK
from tests.analysis.test_verdicts import MATCHED, labelled

from afrieval.analysis.contrasts import contrasts
from afrieval.report.comparable_scores import comparable_scores
from afrieval.report.native import effect_words, effects_of
from afrieval.report.standing_words import TaskStanding, language_sentences, leader_tables, task_standings
from afrieval.results.cell_scores import CellScores
from afrieval.results.identity import Selection

GUESSED = [1.0] * 25 + [0.0] * 75  # of four choices


def of(*cells: CellScores) -> list[TaskStanding]:
    effects = effects_of(contrasts(list(cells), "prompt_language", 42))
    found = [part for part in comparable_scores(cells) if part.kind == "eng"]
    return [each for part in found for each in task_standings(part, effects)]


def cells(
    values: list[float], model: str = "m", kind: str = "eng", codes: str = "hau yor", **more: Any
) -> list[CellScores]:
    made = [scored(values, language=c, model=model, prompt_language=kind, **more) for c in codes.split()]
    return [replace(c, comparable_on={**c.comparable_on, "prompt text": kind}) for c in made]


def said(*of_models: list[CellScores]) -> dict[str, str]:
    return {code: text for code, _, text in language_sentences(of(*(cell for cells in of_models for cell in cells)))}


def test_the_best_is_named_with_its_interval_its_rivals_and_what_native_prompts_change() -> None:
    found = said(cells(WEAK, "weak"), cells(GOOD, "good"), cells(GOOD, "twin"), cells(WEAK, "good", "native"))
    assert found["hau"] == ("good is best, 82.6-94.5; twin cannot be told apart from it; native prompts hurt (-50.0).")
    assert (
        said(cells(WEAK, "weak"), cells(GOOD, "good"))["hau"]
        == "good is best, 82.6-94.5; all others are significantly worse."
    )


def test_one_model_has_a_score() -> None:
    assert said(cells(GOOD), cells(GOOD, kind="native"))["yor"] == (
        "m scores 90.0 (95% CI 82.6-94.5); native prompts +0.0, no detectable difference."
    )


def test_a_tie_at_chance_is_not_a_tie_of_the_best() -> None:
    found = said(cells(GUESSED, "a"), cells(GUESSED, "b"))
    assert found[""] == "No score is above chance in Hausa and Yoruba."
    assert found["hau"] == "no model is above chance (25.0)."
    assert said(cells(GUESSED)[:1]) == {"hau": "m is not above chance (25.0)."}
    nothing = [replace(cell, n_choices=cell.n_choices * 0) for name in "ab" for cell in cells([0.0] * 100, name)]
    assert said(nothing)["hau"] == "no model is above 0.0."


def test_a_preference_for_a_label_does_not_pass_for_not_reading() -> None:
    golds, knows = np.arange(300) % 3, (np.arange(300) % 10 < 7).astype(float)[:, None]
    measures = {"acc": (golds == 0).astype(float)[:, None], "acc_matched": knows}
    both = [labelled(np.zeros(300), golds, **MATCHED, measures=measures, language=code) for code in ("hau", "yor")]
    found = said(both)
    assert found[""] == "No score is above chance in Hausa and Yoruba, except by acc_matched."
    assert found["hau"] == "m is not above chance (33.3), except by acc_matched."
    found = said([*both, *cells(GUESSED, task="sib200")])
    assert found["hau"] == "no score is above chance, except by acc_matched in afrixnli."
    guesses = {**measures, "acc_matched": (golds == 1).astype(float)[:, None]}
    luckier = {**guesses, "acc": (np.arange(300) < 110).astype(float)[:, None]}
    of_hausa = {"guesser": luckier, "reader": measures}
    for_hausa = [
        labelled(np.zeros(300), golds, **MATCHED, measures=m, model=n, language="hau") for n, m in of_hausa.items()
    ]
    of_yoruba = [labelled(np.zeros(300), golds, **MATCHED, measures=guesses, model=n, language="yor") for n in of_hausa]
    found = said(for_hausa, of_yoruba)
    assert found["hau"] == "no model is above chance (33.3), except by acc_matched."
    assert found["yor"] == "no model is above chance (33.3)."
    assert found[""] == "No score is above chance in Hausa and Yoruba."


def test_of_several_tasks_the_clear_ones_come_first() -> None:
    other: dict[str, Any] = {"task": "afrimmlu"}
    found = said(cells(GOOD, "a"), cells(WEAK, "b"), cells(GOOD, "a", **other), cells(GOOD, "b", **other))
    assert found["hau"] == "a is best in afrixnli (82.6-94.5); a and b may be the best in afrimmlu."
    found = said(cells(GOOD, "a"), cells(WEAK, "b"), cells(GOOD, "a", codes="ibo", **other))
    assert found["hau"] == "a is best in afrixnli (82.6-94.5)." and found["ibo"] == "a scores 82.6-94.5 in afrimmlu."
    third: dict[str, Any] = {"task": "sib200"}
    found = said(*(cells(GUESSED, model, **third) for model in "ab"), cells(GOOD, "a"), cells(WEAK, "b"))
    assert found["hau"].endswith("; nothing is above chance in sib200.")


def test_rows_that_nothing_can_be_concluded_from_are_in_no_sentence() -> None:
    own = [replace(cell, declared={"sample_rows": {cell.language: True}}) for cell in cells(GOOD)]
    assert not any(each.concludes for each in of(*own)) and said(own) == {}


def test_a_mean_has_its_rivals_and_counts_what_native_prompts_change() -> None:
    every = [*cells(WEAK, "weak"), *cells(GOOD, "good"), *cells(WEAK, "good", "native")]
    first, second = [each for each in of(*every) if not each.board.name]
    assert (first.row.side, first.leads, len(first.row.languages), second.leads) == ("good", True, 2, False)
    assert effect_words(first.effects) == "-50.0 on average; hurt in 2 of 2 languages"


def test_the_best_is_not_one_that_is_behind_on_shared_documents() -> None:
    few, more = [1.0] * 70 + [0.0] * 30, [1.0] * 100 + [0.0] * 100
    (first, second) = of(*cells(few, "few", codes="hau"), *cells(more, "more", codes="hau"))
    assert (first.row.side, first.leads, first.rivals, second.row.side) == ("more", True, [], "few")


def test_sides_are_named_by_what_differs() -> None:
    made = [scored([1.0], shots=shots, answer_form="text") for shots in (0, 5)]
    other = scored([1.0], task="afrimmlu", answer_form="generate")  # another task is no other side
    assert [list(part.sides) for part in comparable_scores([*made, other])] == [
        ["m, 0-shot", "m, 5-shot"],
        ["m, 0-shot"],
    ]


MODELS = {"weak": WEAK, "good": GOOD, "alike": GOOD[::-1]}


def three(**changes: Any) -> list[CellScores]:
    return [cell for model, values in MODELS.items() for cell in cells(values, model, **changes)]


def test_the_best_are_named_first_and_in_each_language() -> None:
    (table,) = leader_tables(three())
    over, each = table.findings
    assert over.startswith("Over 2 African languages, good is best, ") and "; alike cannot be told apart" in over
    assert each == "One model is clearly the best in none of 2 languages."
    assert [(row[0], row[1], row[-1]) for row in table.cells()] == [
        ("Hausa", "good", "alike"), ("Yoruba", "good", "alike"),
    ]  # fmt: skip


def test_two_models_have_their_difference_alone() -> None:
    assert leader_tables([cell for cell in three() if cell.model != "weak"]) == []


def test_nothing_is_concluded_from_the_first_rows() -> None:
    (table,) = leader_tables(three(selection=Selection("first", 100, 200)))
    assert table.rows == [] and table.findings[0].endswith("nothing is concluded.")


def test_nobody_is_named_as_the_best_at_chance() -> None:
    (table,) = leader_tables([scored(GUESSED, model=model) for model in "abc"])
    assert table.cells()[0][:2] == ["Yoruba", "none"] and "not above chance (25.0)" in table.cells()[0][-1]
