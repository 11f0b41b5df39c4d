"""Rows with complete prompts become documents whose prompts are untouched."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.conftest import REAL_DATA
from tests.tasks.data.test_join import WAYS

from afrieval._util.errors import UserError
from afrieval._util.tables import DEFECT, Row
from afrieval.scoring.responses import Generation
from afrieval.tasks.cells.questions import scorer
from afrieval.tasks.data.complete_rows import joined, recorded_documents
from afrieval.tasks.data.document import Document
from afrieval.tasks.declaration.spec import load_task
from afrieval.tasks.prompts.prompts import load_prompts

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


@settings(max_examples=30)
@given(st.text().filter(str.strip))
@example("\n\nWhich?\t\r\n \u00a0")
@example("<|eot_id|><|start_header_id|>assistant<|end_header_id|>\n\n")
@example("{{ question }} {% raw %}")
@example("\ufeffe\u0323\u0300ko\u0301\u2028")
def test_any_prompt_is_taken_as_it_is_to_the_last_blank(prompt: str) -> None:
    for cell in ([prompt], (prompt,), prompt, [prompt, "another"]):
        if not prompt.startswith(("['", '["')):  # a list that became text
            assert document(input_final_prompts=cell).prompt == prompt
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


@pytest.mark.parametrize("prompt", ["['Which?\\nAnswer: B']", '["Which?"]'])
def test_a_list_that_became_text_is_no_prompt(prompt: str) -> None:
    for spec in (GPQA, MMLU):
        with pytest.raises(UserError, match="holds a list as text"):
            document(spec, input_final_prompts=prompt)


@pytest.mark.parametrize(
    "gold", ["B", "B.", " B ", "(B)", "(B).", "Answer: B", "The best answer is B.", "**B**", "answer: (B)"]
)
def test_letters_however_coded(gold: str) -> None:
    for cell in ([gold], gold, (gold, "D")):
        found = document(input_correct_responses=cell)
        assert (found.gold, found.defect, found.choices) == (1, "", ("A", "B", "C", "D"))


@pytest.mark.parametrize(
    "gold",
    [
        [], None, [None], "", "E", "J", "b", "None", "Answer:", "1", "AB", "Answer", "B1", "A, B", "A. Vitamin D",
        "A) of type B", "D or B",
    ],
)  # fmt: skip
def test_rows_without_a_gold_that_is_offered(gold: Any) -> None:
    found = recorded_documents(GPQA, [row(), row(input_correct_responses=gold)], "file")
    assert [d.gold for d in found] == [1, None]
    assert [d.defect for d in found] == ["", "no gold answer among the choices"]
    with pytest.raises(UserError, match="no row can be scored: no gold answer among the choices"):
        document(input_correct_responses=gold)


@pytest.mark.parametrize("gold", ["No", "-24", "] )", "(B)", "e\u0301"])
def test_short_texts(gold: str) -> None:
    found = document(BBH, input_correct_responses=[f" {gold} "])
    assert (found.gold, found.choices, found.defect) == (gold.replace("e\u0301", "é"), (), "")


@pytest.mark.parametrize("gold", [[], None, [None], [""], "  "])
def test_short_texts_that_are_missing(gold: Any) -> None:
    found = recorded_documents(BBH, [row(), row(input_correct_responses=gold)], "file")
    assert [d.gold for d in found] == ["B", None] and found[1].defect == "no gold answer"


@pytest.mark.parametrize(
    ("solution", "gold"),
    [
        (r"So $\boxed{5}$.", "5"),
        (r"$\boxed{1}$, no: $\boxed{\frac{1}{\sqrt{2}}}$", r"\frac{1}{\sqrt{2}}"),
        (r"It is \fbox{7}.", "7"),
        (r"$\boxed 5$", "5"),
        (r"$\boxed{\{-3, 4\}}$", r"\{-3, 4\}"),
        ("no box", None),
        (r"$\boxed{5$", None),
        (r"\boxed{}", None),
        (None, None),
    ],
)
def test_golds_of_mathematics(solution: str | None, gold: str | None) -> None:
    found = recorded_documents(MATH, [row(solution=r"\boxed{0}"), row(solution=solution)], "file")
    assert found[0].gold == "0" and found[1].gold == gold
    assert found[1].defect == ("" if gold else "no gold answer")


@pytest.mark.parametrize("spec", [MATH, IFEVAL])
def test_a_row_without_counterpart_says_why(spec: Any) -> None:
    there = row(solution=r"\boxed{0}", key=1, instruction_id_list=["punctuation:no_comma"], kwargs=[{}])
    found = recorded_documents(spec, [row(**{DEFECT: "no such row"}), there], "file")
    assert [d.id for d in found] == [0, 1] and found[0].prompt == found[1].prompt
    assert (found[0].gold, found[0].defect) == (None, "no such row")
    assert found[1].gold not in (None, "None") and not found[1].defect
    if spec.join:  # such a row has no counterpart either
        defective = row(**{DEFECT: "no such row"})
        assert joined([defective], [{spec.join.other_key: "t"}, defective], spec.join, "file") == [defective]
    with pytest.raises(UserError, match="no row can be scored: no such row"):
        recorded_documents(spec, [row(**{DEFECT: "no such row"})], "file")


def test_instructions_are_the_same_with_and_without_the_nulls_of_parquet() -> None:
    ids = ["punctuation:no_comma", "length_constraints:number_words"]
    bare = [{}, {"relation": "at least", "num_words": 30}]
    filled = [{"relation": None, "num_words": None}, {"num_words": 30.0, "keywords": None, "relation": "at least"}]
    golds = [document(IFEVAL, key=7, instruction_id_list=ids, kwargs=k).gold for k in (bare, filled, [None, filled[1]])]
    assert golds[0] == {"key": 7, "instruction_id_list": ids, "kwargs": bare}
    assert golds[0] == golds[1] == golds[2]
    with pytest.raises(UserError, match="row 7: length_constraints:number_words does not take"):
        document(IFEVAL, key=7, instruction_id_list=ids, kwargs=[{}, {}])


def real(repository: str, file: str) -> list[Row]:
    text = (Path(str(REAL_DATA)) / repository / file).read_text(encoding="utf-8")
    return [json.loads(line) for line in text.split("\n") if line]


@pytest.mark.data
def test_every_solution_of_math_is_right() -> None:
    assert MATH.join
    problems = real(MATH.join.hub, "test.jsonl")
    asked = [row(input_question=p["problem"], input_correct_responses=["1e+0"]) for p in problems]
    found = recorded_documents(MATH, joined(asked, problems, MATH.join, "file"), "file")
    assert len(found) == 5000 and all(d.gold and not d.defect for d in found)
    score = scorer(MATH, load_prompts(MATH, "eng")[1], (), "generate", Generation(512))
    scores = [score(d, [f"Let us see.\n{p['solution']}"]) for d, p in zip(found, problems, strict=True)]
    assert [s.measures["exact_match"] for s in scores] == [[1.0]] * 5000


@pytest.mark.data
@pytest.mark.parametrize("way", WAYS)
def test_every_row_of_ifeval_has_instructions(way: Any) -> None:
    assert IFEVAL.join
    prompts = real(IFEVAL.join.hub, "instruction_following_eval.jsonl")
    asked = [row(input_question=way(p["prompt"]), input_final_prompts=[p["prompt"]]) for p in prompts]
    found = recorded_documents(IFEVAL, joined(asked, prompts, IFEVAL.join, "file"), "file")
    assert len(found) == 541
    for d, p in zip(found, prompts, strict=True):
        assert d.prompt == p["prompt"]
        assert d.gold == {key: p[key] for key in ("key", "instruction_id_list", "kwargs")}
