"""Rows with complete prompts become documents whose prompts are untouched."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from afrieval._util.errors import UserError
from afrieval._util.tables import Row
from afrieval.tasks.data.complete_rows import recorded_documents
from afrieval.tasks.data.documents import Document
from afrieval.tasks.declaration.spec import load_task

GPQA, MMLU, BBH, MATH, IFEVAL = (load_task(f"meta_{name}") for name in ("gpqa", "mmlu", "bbh", "math", "ifeval"))
FOUR = {"A": "a", "B": "b", "C": "c", "D": "d"}


def row(**changed: Any) -> Row:
    return {
        "input_question": "Which?",
        "subtask_name": "x.y",
        "input_choice_list": FOUR,
        "input_final_prompts": ["Which?\nAnswer:"],
        "input_correct_responses": ["B"],
        "is_correct": True,
    } | changed


def document(spec: Any = GPQA, **changed: Any) -> Document:
    (found,) = recorded_documents(spec, [row(**changed)], "file")
    return found


PROMPTS = [
    "Which?",
    "\n\nWhich?\n\n",
    "  Which? ",
    "\tWhich?\t\r\n",
    "<|start_header_id|>user<|end_header_id|>\n\nWhich?<|eot_id|><|start_header_id|>assistant<|end_header_id|>\n\n",
    "e\u0323\u0300ko\u0301 \u00a0",
    "\ufeffWhich?\u2028",
    "{{ question }} {% raw %}",
    "Which? A",
]


@pytest.mark.parametrize("prompt", PROMPTS)
def test_a_prompt_is_taken_to_the_last_blank(prompt: str) -> None:
    for cell in ([prompt], (prompt,), prompt, [prompt, "another"]):
        assert document(input_final_prompts=cell).prompt == prompt


@given(st.text().filter(str.strip))
def test_any_prompt_is_taken_as_it_is(prompt: str) -> None:
    assert document(input_final_prompts=[prompt]).prompt == prompt
    assert document(MMLU, input_final_prompts=[f"{prompt} C"]).prompt == prompt


@pytest.mark.parametrize(("prompt", "cut"), [("\nAnswer: B", "\nAnswer:"), ("  B", " "), ("\n\nA \n J", "\n\nA \n")])
def test_the_answer_is_cut_off(prompt: str, cut: str) -> None:
    assert document(MMLU, input_final_prompts=[prompt]).prompt == cut


@pytest.mark.parametrize(
    "end", ["Answer:", "Answer: ", "Answer:B", "Answer: b", "Answer: K", "Answer: B ", "Answer: B\n", "Answer:\tB", "B"]
)
def test_a_prompt_that_does_not_end_with_an_answer(end: str) -> None:
    with pytest.raises(UserError, match="file, row 0: the prompt must end with") as caught:
        document(MMLU, input_final_prompts=[f"Which?\n{end}"])
    assert repr(f"Which?\n{end}"[-9:]) in caught.value.message


@pytest.mark.parametrize("cell", [[], None, "", [""], [None], [" \n"], [5]])
def test_a_row_without_a_prompt(cell: Any) -> None:
    with pytest.raises(UserError, match="row 0 has no prompt in column 'input_final_prompts'"):
        document(input_final_prompts=cell)


@pytest.mark.parametrize(
    ("choices", "n"),
    [
        (FOUR, 4),
        (FOUR | dict.fromkeys("EFGHIJ"), 4),
        (dict.fromkeys("JIHGFE") | FOUR, 4),
        ({"A": "a", "B": "", "C": "c"}, 3),
        ({"A": "a", "B": None, "C": "c"}, 3),
        (dict.fromkeys("ABCDEFGHIJ", "x"), 10),
        (["a", "b"], 2),
        (["a", "b", None], 2),
        (("a", "b", "c"), 3),
    ],
)
def test_choices_of_a_map_and_of_a_list(choices: Any, n: int) -> None:
    assert document(input_choice_list=choices).choices == tuple("ABCDEFGHIJ"[:n])
    last = "ABCDEFGHIJ"[n - 1]
    assert document(input_choice_list=choices, input_correct_responses=[last]).gold == n - 1


@pytest.mark.parametrize("choices", [None, {}, [], ["a"], {"A": "a", "B": None}, ["x"] * 27])
def test_choices_that_are_none(choices: Any) -> None:
    with pytest.raises(UserError, match=r"file, row 0: the number of choices must be 2 to 26, not \d+"):
        document(input_choice_list=choices)


@pytest.mark.parametrize(
    ("told", "verdict"),
    [
        *[(told, True) for told in (True, "true", " TRUE", [True], ["True"], 1)],
        *[(told, False) for told in (False, "False", "false ", ["false"], 0.0)],
        *[(told, None) for told in (None, [], [None], "", "yes")],
    ],
)
def test_verdicts(told: Any, verdict: bool | None) -> None:
    assert document(is_correct=told).verdict is verdict
    assert document(replace(GPQA, verdict=None), is_correct=told).verdict is None


@pytest.mark.parametrize(
    ("spec", "column"),
    [
        (GPQA, "input_question"),
        (GPQA, "input_final_prompts"),
        (GPQA, "input_choice_list"),
        (GPQA, "input_correct_responses"),
        (GPQA, "is_correct"),
        (MMLU, "subtask_name"),
        (MATH, "solution"),
        (IFEVAL, "kwargs"),
    ],
)
def test_a_column_that_is_not_there(spec: Any, column: str) -> None:
    whole = row(solution=r"\boxed{0}", key=1, instruction_id_list=["punctuation:no_comma"], kwargs=[{}])
    del whole[column]
    with pytest.raises(UserError, match=f"file has no column '{column}'"):
        recorded_documents(spec, [whole], "file")


def test_no_rows() -> None:
    with pytest.raises(UserError, match="file has no rows"):
        recorded_documents(GPQA, [], "file")
