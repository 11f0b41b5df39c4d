"""The sample rows of the Llama tasks have Meta's columns, and the verdicts in them fit."""

import hashlib
import re
from collections import Counter

import pytest
from tests.tasks.meta_rows import LETTERED, MATH, TASKS, body, partner, read

from afrieval.scoring.extract.phrase import last_boxed
from afrieval.scoring.ifeval.instructions import followed
from afrieval.scoring.mathematics.same_answer import same_answer

LETTER = {  # where a response says its letter
    "meta_mmlu_pro_pretrain": r"answer is \(([A-Z])\)",
    "meta_mmlu_pro_instruct": r"best answer is ([A-Z])",
    "meta_gpqa_cot": r"best answer is ([A-Z])",
    "meta_gpqa": r" ([A-Z])",
    "meta_mmlu_instruct": r" ([A-D])",
    "meta_mmlu": r"Answer: ([A-D])",
}
PLAIN = ("meta_bbh", "meta_mmlu_pro_pretrain", "meta_mmlu")  # for pretrained models
USER, ASSISTANT = (f"<|start_header_id|>{role}<|end_header_id|>\n\n" for role in ("user", "assistant"))
COLUMNS = {
    "split", "task_type", "task_name", "subtask_name", "input_question", "input_choice_list", "input_final_prompts",
    "input_correct_responses", "output_prediction_text", "is_correct", "input_question_hash", "benchmark_label",
    "eval_config",
}  # fmt: skip


@pytest.mark.parametrize("task", TASKS)
def test_rows_have_the_columns_of_the_real_ones(task: str) -> None:
    rows = read(task)
    assert len(rows) == (8 if task in MATH else 6)
    for row in rows:
        assert set(row) == COLUMNS
        assert row["task_type"] == ("Choice" if task == "meta_mmlu" else "Generative")
        assert row["subtask_name"].startswith(row["task_name"] + ".")
        assert [len(row[column]) for column in ("input_final_prompts", "output_prediction_text")] == [1, 1]
        assert row["input_question_hash"] == hashlib.sha256(row["input_question"].encode()).hexdigest()
        assert isinstance(row["eval_config"], dict) and isinstance(row["is_correct"], bool)
    assert len({row["input_question_hash"] for row in rows}) == len(rows)
    assert {row["is_correct"] for row in rows} == {True, False}
    sizes = Counter(row["subtask_name"] for row in rows)
    assert len(sizes) >= 3 and len(set(sizes.values())) > 1, "macro and micro averages differ"


@pytest.mark.parametrize("task", TASKS)
def test_prompts_are_complete(task: str) -> None:
    for row in read(task):
        (prompt,) = row["input_final_prompts"]
        question = body(row) if task == "meta_ifeval" else row["input_question"]
        assert question in prompt and "<|begin_of_text|>" not in prompt
        if task in PLAIN:
            end = (
                f"\nAnswer: {row['input_correct_responses'][0][-1]}"
                if task == "meta_mmlu"
                else "\nA: Let's think step by step."
            )
            assert prompt.endswith(end) and "<|" not in prompt
        else:
            assert prompt.startswith(USER) and prompt.endswith(f"<|eot_id|>{ASSISTANT}")


@pytest.mark.parametrize("task", LETTERED)
def test_verdicts_on_letters_fit(task: str) -> None:
    for row in read(task):
        (said,) = row["output_prediction_text"]
        letters = re.findall(LETTER[task], said)
        golds = [gold.rstrip(".")[-1] for gold in row["input_correct_responses"]]
        assert list(row["input_choice_list"]) == list("ABCDEFGHIJ"[: len(row["input_choice_list"])])
        assert {letters[-1], *golds} <= set(row["input_choice_list"])
        assert row["is_correct"] == (letters[-1:] == golds), said


def test_verdicts_on_big_bench_hard_fit() -> None:
    for row in read("meta_bbh"):
        said = re.search(r"the answer is (.*?)\.", row["output_prediction_text"][0])
        assert said and row["is_correct"] == ([said[1]] == row["input_correct_responses"])


@pytest.mark.parametrize("task", MATH)
def test_verdicts_on_mathematics_fit(task: str) -> None:
    alone = []
    for row in read(task):
        found = partner(row, read(task, "test"), task)
        if found is None:
            alone.append(row)
            continue
        gold, said = last_boxed(found["solution"]), last_boxed(row["output_prediction_text"][0])
        assert gold and row["is_correct"] == (said is not None and same_answer(gold, said))
        assert row["subtask_name"].endswith("." + found["type"].lower().replace("&", "and").replace(" ", "_"))
        assert task == "meta_math" or found["level"] == "Level 5"
    assert len(alone) == 1


def test_verdicts_on_instructions_fit() -> None:
    for row in read("meta_ifeval"):
        found = partner(row, read("meta_ifeval", "train"), "meta_ifeval")
        assert found and row["is_correct"] == all(followed(found, row["output_prediction_text"][0]).strict)
