"""The sample rows of the Llama tasks keep the awkward cases that real rows have."""

import json
import re
from collections import Counter

import pytest
from tests.tasks.meta_rows import MATH, PARTNERS, TASKS, WORDINGS, body, partner, read, words

from afrieval.scoring.extract.phrase import last_boxed
from afrieval.scoring.ifeval.instructions import build_checkers


def test_every_partner_of_ifeval_has_instructions_that_can_be_checked() -> None:
    rows = read("meta_ifeval", "train")
    for row in rows:
        assert set(row) == {"split", "key", "prompt", "instruction_id_list", "kwargs"}
        assert len(build_checkers(row)) == len(row["instruction_id_list"])
    kwargs = [one for row in rows for one in row["kwargs"]]
    assert any(None in one.values() for one in kwargs), "filled with nulls, as parquet has them"
    assert {} in kwargs and any(isinstance(v, float) for one in kwargs for v in one.values())


@pytest.mark.parametrize(("task", "column"), [(task, "problem") for task in MATH] + [("meta_ifeval", "prompt")])
def test_partners_do_not_fit_one_to_one(task: str, column: str) -> None:
    partners, rows = read(task, PARTNERS[task]), read(task)
    asked = [body(row) if task == "meta_ifeval" else row["input_question"] for row in rows]
    found = [partner(row, partners, task) for row in rows]
    assert [words(text) for text in asked] != [words(row[column]) for row in partners], "in another order"
    texts = [other[column] for other in found if other]
    assert any(text.endswith("\n") for text in texts), "a line end more"
    assert sum(text not in asked and text.strip() not in asked for text in texts) >= 1, "another run of blanks"
    assert len([row for row in partners if row not in found]) == 1, "one that no row asks for"
    twice = [row for row in partners if partners.count(row) == 2]
    assert bool(twice) == (task in MATH) and all(row in found for row in twice)


@pytest.mark.parametrize("task", MATH)
def test_awkward_answers_of_mathematics(task: str) -> None:
    solutions = [row["solution"] for row in read(task, "test")]
    answers = [str(last_boxed(solution)) for solution in solutions]
    assert sum(r"\fbox{" in solution for solution in solutions) == 1
    assert r"6\sqrt{7}" in answers and "(-2,5)" in answers and r"\{-3, 4\}" in answers
    assert any(r"\text{" in answer for answer in answers), "a unit"
    assert any(r"frac{" in answer for answer in answers), "braces in braces"
    (root,) = [row for row in read(task) if "hypotenuse" in row["input_question"]]
    assert root["input_correct_responses"] == ["1.59e+1"], "Meta's gold for the root of 252"


def test_awkward_answers_elsewhere() -> None:
    golds = {task: [row["input_correct_responses"] for row in read(task)] for task in TASKS}
    assert all(re.fullmatch("Answer: [A-D]", gold) for (gold,) in golds["meta_mmlu"])
    for task in ("meta_mmlu_pro_instruct", "meta_gpqa_cot", "meta_mmlu_instruct"):
        whole = [gold for (gold,) in golds[task] if gold.startswith("The best answer is ")]
        assert len(whole) == 1 and all(len(gold) == 1 for (gold,) in golds[task] if gold not in whole)
    assert golds["meta_gpqa"].count([]) == 1, "a row without a gold answer"
    assert {"] )", "-24", "(B)"} <= {gold for (gold,) in golds["meta_bbh"]}
    for task in ("meta_mmlu_pro_instruct", "meta_mmlu_pro_pretrain"):
        sizes = Counter(len(row["input_choice_list"]) for row in read(task))
        assert sizes == {10: 5, 7: 1}
    assert (
        sum("best answer is A, but" in row["output_prediction_text"][0] for row in read("meta_mmlu_pro_instruct")) == 1
    )


def test_awkward_dialogs_of_ifeval() -> None:
    texts = [row["input_question"] for row in read("meta_ifeval")]
    bodies = [body(row) for row in read("meta_ifeval")]
    kinds = Counter("json" if is_json(text) else text[:2] for text in texts)
    assert kinds == {"json": 3, "{'": 2, '{"': 1}, (
        "JSON, Python with JSON's null and true, and keys of one in the other"
    )
    assert all("null" in text and "true" in text and "false" in text for text in texts)
    for what in ('"', "'", "\n", "{", "}", " null", " true", "\\n", "á"):
        assert any(what in text for text in bodies), what
    for wording in WORDINGS:
        assert sum(wording in text for text in bodies) == 1
        assert not any(wording in row["prompt"] for row in read("meta_ifeval", "train"))


def is_json(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True
