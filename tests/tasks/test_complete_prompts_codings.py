"""Codings of Meta's columns that are read as they were meant, or refused, and never misread."""

from typing import Any

import pytest

from afrieval._util.errors import UserError
from afrieval.tasks.data.complete_rows import recorded_documents
from afrieval.tasks.data.splits import check_count
from afrieval.tasks.declaration.spec import load_task

LETTERS = "ABCDEFGHIJ"


def row(gold: Any, **more: Any) -> dict[str, Any]:
    choices = {letter: f"text {letter}" if letter in "ABCD" else None for letter in LETTERS}
    plain = {"input_question": "Which?", "subtask_name": "mmlu.x", "input_choice_list": choices, "is_correct": True}
    return {**plain, "input_final_prompts": ["Which?\nAnswer: B"], "input_correct_responses": gold, **more}


@pytest.mark.parametrize(
    "gold", ["B", ["B"], ["B."], ["(B)"], ["Answer: B"], ["The best answer is B."], [" B"], ["**B**"], ["answer: (B)"]]
)
def test_letters_however_they_are_coded(gold: Any) -> None:
    (document,) = recorded_documents(load_task("meta_mmlu"), [row(gold)], "here")
    assert (document.gold, document.choices, document.prompt) == (1, tuple("ABCD"), "Which?\nAnswer:")


@pytest.mark.parametrize("gold", ["A. Vitamin D", "A) of type B", "H", "b", "D or B", [], [None], None, "", "1"])
def test_what_names_no_letter_for_sure_is_no_gold_answer(gold: Any) -> None:
    unread, _ = recorded_documents(load_task("meta_mmlu"), [row(gold), row("B")], "here")
    assert unread.gold is None and unread.defect


@pytest.mark.parametrize("prompt", [["Which?\nAnswer: B\n"], ["Which?\nAnswer:"], "['Which?\\nAnswer: B']"])
def test_prompts_that_would_not_be_sent_as_meant(prompt: Any) -> None:
    with pytest.raises(UserError):
        recorded_documents(load_task("meta_mmlu"), [row("B", input_final_prompts=prompt)], "here")
    if isinstance(prompt, str):
        with pytest.raises(UserError):
            recorded_documents(load_task("meta_mmlu_instruct"), [row("B", input_final_prompts=prompt)], "here")


@pytest.mark.parametrize(
    "told, verdict",
    [
        (True, True),
        (False, False),
        ([False], False),
        ("true", True),
        ("False", False),
        (1.0, True),
        (0.0, False),
        (None, None),
        ([], None),
        ("", None),
    ],
)
def test_verdicts_however_they_are_coded(told: Any, verdict: bool | None) -> None:
    (document,) = recorded_documents(load_task("meta_mmlu"), [row("B", is_correct=told)], "here")
    assert document.verdict is verdict


@pytest.mark.parametrize("rows", [447, 449, 896])
def test_fewer_rows_and_more_are_refused(rows: int) -> None:
    with pytest.raises(UserError, match="448"):
        check_count(rows, 448, "here")
    check_count(448, 448, "here")
