"""What each task asks for and how it is read, beside a table taken from Meta's recipe and eval_details.md by hand."""

import pytest

from afrieval.tasks.declaration.spec import load_task

NONE: list[str] = []
ONE_MORE = ["\n\nQ: "]
# family, instruct, configuration, rows, longest answer, stop texts, announced by, which
SETTINGS = {
    "meta_bbh": ("3.1", False, "bbh", 6511, 512, ONE_MORE, "the answer is", "first"),
    "meta_mmlu_pro_pretrain": ("3.1", False, "mmlu_pro", 12032, 512, ONE_MORE, "answer is", "first"),
    "meta_mmlu_pro_instruct": ("3.1", True, "mmlu_pro", 12032, 1024, NONE, "best answer is", "last"),
    "meta_gpqa_cot": ("3.1", True, "gpqa", 448, 2048, NONE, "best answer is", "last"),
    "meta_math_hard": ("3.1", True, "math_hard", 1324, 5120, NONE, None, None),
    "meta_ifeval": ("3.1", True, "ifeval__strict", 541, 1280, NONE, None, None),
    "meta_mmlu_instruct": ("3.2", True, "mmlu", 14042, 1024, NONE, "answer is", "last"),
    "meta_gpqa": ("3.2", True, "gpqa", 448, 2048, NONE, "answer is", "last"),
    "meta_math": ("3.2", True, "math", 5000, 512, NONE, None, None),
    "meta_mmlu": ("3.2", False, "mmlu", 14042, None, None, None, None),
}
MACRO = ("meta_bbh", "meta_mmlu_pro_pretrain", "meta_mmlu_pro_instruct", "meta_mmlu_instruct", "meta_mmlu")


@pytest.mark.parametrize("name", SETTINGS)
def test_settings_are_those_of_the_recipe(name: str) -> None:
    spec = load_task(name)
    assert spec.evals
    ends = (spec.generation.max_tokens, spec.generation.stop) if spec.generation else (None, None)
    read = (spec.read.after, spec.read.which) if spec.read else (None, None)
    config = str(spec.data.files["latest"]).removeprefix("config:{evals}__").removesuffix("__details")
    assert (spec.evals.family, spec.evals.instruct, config, spec.data.rows, *ends, *read) == SETTINGS[name]
    assert (spec.prompt, spec.verdict) == ("input_final_prompts", "is_correct")
    assert spec.macro == ("subtask" if name in MACRO else None)
    assert not (spec.read and spec.read.lone), "a guess is no answer"


@pytest.mark.parametrize(
    "name, hub, split, rows",
    [
        ("meta_math", "DigitalLearningGmbH/MATH-lighteval", "test", 5000),
        ("meta_math_hard", "DigitalLearningGmbH/MATH-lighteval", "test", 5000),
        ("meta_ifeval", "wis-k/instruction-following-eval", "train", 541),
    ],
)
def test_where_gold_answers_come_from(name: str, hub: str, split: str, rows: int) -> None:
    join = load_task(name).join
    assert join and (join.hub, join.split, join.rows) == (hub, split, rows)
