"""Which of Meta's data sets a model gets, which tasks they have, and what is refused."""

from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.conftest import spec_of
from tests.tasks.meta_rows import TASKS as NAMES

from afrieval._util.errors import UserError
from afrieval.addons.llama.evaluations import GROUPS, WITH_EVALS, chosen_evals, llama, members, of_evals, published
from afrieval.tasks.declaration.spec import TASKS, task_names

SPECS = [spec_of(name) for name in task_names(TASKS / "llama")]
INSTRUCT_31, PRETRAINED_32 = "meta-llama/Llama-3.1-8B-Instruct-evals", "meta-llama/Llama-3.2-1B-evals"


def test_all_ten_tasks_are_declared() -> None:
    assert {spec.name for spec in SPECS} == set(NAMES) and len(SPECS) == 10
    assert all(spec.evals and spec.prompt and spec.verdict == "is_correct" for spec in SPECS)


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("meta-llama/Llama-3.1-8B-Instruct", "Llama-3.1-8B-Instruct"),
        ("meta-llama/Meta-Llama-3.1-405B", "Llama-3.1-405B"),
        ("/models/Llama-3.2-3B-Instruct/", "Llama-3.2-3B-Instruct"),
        ("meta-llama/Llama-3.1-8B-Instruct-evals", None),
        ("meta-llama/Llama-3.2-11B-Vision-Instruct", "Llama-3.2-11B-Instruct"),
        ("meta-llama/Llama-3.2-90B-Vision", "Llama-3.2-90B"),
        ("my/Llama-3.1-8B-Hausa", None),
        ("meta-llama/Llama-2-7b-hf", None),
        ("demo", None),
        (None, None),
    ],
)
def test_models_are_known_by_their_names(name: str | None, found: str | None) -> None:
    model = llama(name)
    assert (model and model.name) == found


def test_a_model_gets_its_own_data_set_unless_another_is_named() -> None:
    own = chosen_evals("meta-llama/Meta-Llama-3.1-70B-Instruct", None)
    assert own and own.name == "Llama-3.1-70B-Instruct"
    named = chosen_evals("me/fine-tuned", INSTRUCT_31)
    assert named and named.name == "Llama-3.1-8B-Instruct"
    assert chosen_evals("me/fine-tuned", None) is None
    later = chosen_evals("meta-llama/Llama-3.3-70B-Instruct", "meta-llama/Llama-3.1-70B-Instruct-evals")
    assert later and later.size == "70B"


@pytest.mark.parametrize(
    ("model", "evals", "message", "hint"),
    [
        ("meta-llama/Llama-3.1-8B", INSTRUCT_31, "is pretrained", "give evals_dataset meta-llama/Llama-3.1-8B-evals"),
        ("meta-llama/Llama-3.2-1B-Instruct", PRETRAINED_32, "is instruct", "Llama-3.2-1B-Instruct-evals"),
        ("meta-llama/Llama-3.1-70B-Instruct", INSTRUCT_31, "has 70B", "Llama-3.1-70B-Instruct-evals"),
        ("meta-llama/Llama-3.1-8B", "meta-llama/Llama-3.2-3B-Instruct-evals", "is pretrained", "Llama-3.1-8B-evals"),
        ("meta-llama/Llama-3.3-70B-Instruct", PRETRAINED_32, "is instruct", "Llama-3.1-70B-Instruct-evals"),
        ("meta-llama/Llama-3.2-90B-Vision-Instruct", None, "no evaluation data", "Llama-3.1-70B-Instruct"),
        ("meta-llama/Llama-3.2-11B-Instruct", None, "no evaluation data of Llama-3.2-11B-Instruct", "Llama-3.2-3B"),
        ("meta-llama/Llama-3.3-70B-Instruct", None, "no evaluation data", "Llama-3.1-70B-Instruct-evals"),
        ("me/mine", "meta-llama/Llama-3.1-9B-evals", "unknown evaluation data set", "did you mean"),
        ("me/mine", "meta-llama/Llama-3.1-8B", "unknown evaluation data set", "Llama-3.1-8B-evals"),
        ("me/mine", "other/Llama-3.1-8B-evals", "unknown evaluation data set", "meta-llama"),
    ],
)
def test_data_sets_that_cannot_be_right(model: str, evals: str | None, message: str, hint: str) -> None:
    with pytest.raises(UserError) as caught:
        chosen_evals(model, evals)
    assert message in caught.value.message and hint in caught.value.hint


@pytest.mark.parametrize(
    ("group", "model", "tasks"),
    [
        (
            "meta_instruct",
            "Llama-3.1-8B-Instruct",
            {"meta_ifeval", "meta_math_hard", "meta_gpqa_cot", "meta_mmlu_pro_instruct"},
        ),
        ("meta_instruct", "Llama-3.2-3B-Instruct", {"meta_mmlu_instruct", "meta_math", "meta_gpqa"}),
        ("meta_pretrain", "Llama-3.1-405B", {"meta_bbh", "meta_mmlu_pro_pretrain"}),
        ("meta_pretrain", "Llama-3.2-1B", {"meta_mmlu"}),
    ],
)
def test_groups_have_the_members_of_the_recipe(group: str, model: str, tasks: set[str]) -> None:
    """Each member is a declared task: the recipe's pretrained 3.2 group names one that there is not (its defect 1)."""
    found = members(group, SPECS, llama(model))
    assert set(found) == tasks and set(found) <= set(task_names())


def test_groups_without_a_model_or_for_other_models() -> None:
    for group in GROUPS:
        with pytest.raises(UserError, match="depend on the model") as caught:
            members(group, SPECS, None)
        named = chosen_evals(None, caught.value.hint.rpartition(" ")[2])
        assert members(group, SPECS, named)
    with pytest.raises(UserError, match="is not for instruct models"):
        members("meta_pretrain", SPECS, llama("Llama-3.2-3B-Instruct"))


@pytest.mark.parametrize("spec", SPECS, ids=lambda s: s.name)
def test_each_task_is_found_on_each_data_set_that_has_it_and_on_no_other(spec) -> None:  # type: ignore[no-untyped-def]
    for evals in WITH_EVALS:
        if (spec.evals.family, spec.evals.instruct) == (evals.family, evals.instruct):
            found = of_evals(spec, evals, samples=False).data
            assert found.hub == f"meta-llama/{evals.name}-evals"
            file = str(found.files["latest"])
            assert file.startswith(f"config:{evals.name}-evals__") and file.endswith("__details") and "{" not in file
        else:
            with pytest.raises(UserError, match=f"{spec.name} is a task of the Llama"):
                of_evals(spec, evals, samples=False)


def test_a_task_without_a_data_set_runs_on_samples_only() -> None:
    spec = spec_of("meta_bbh")
    assert of_evals(spec, None, samples=True) == spec
    with pytest.raises(UserError, match="does not say which"):
        of_evals(spec, None, samples=False)


@pytest.mark.parametrize("spec", SPECS, ids=lambda s: s.name)
def test_the_data_set_that_a_hint_names_has_the_task(spec) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(UserError) as caught:
        of_evals(spec, None, samples=False)
    assert of_evals(spec, chosen_evals(None, caught.value.hint.rpartition(" ")[2]), samples=False)


def test_published_scores_are_those_of_the_data_sets_model(tmp_path: Path) -> None:
    spec = of_evals(spec_of("meta_mmlu_pro_instruct"), llama("Llama-3.1-8B-Instruct"), samples=False)
    assert {(p["score"], p["average"]) for p in published(spec)} >= {(47.0, "micro"), (48.3, "macro")}
    assert published(spec_of("meta_mmlu_pro_instruct")) == []


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
    spec = spec_of(name)
    assert spec.evals
    ends = (spec.generation.max_tokens, spec.generation.stop) if spec.generation else (None, None)
    read = (spec.extract["after"], spec.extract["which"]) if isinstance(spec.extract, dict) else (None, None)
    config = str(spec.data.files["latest"]).removeprefix("config:{evals}__").removesuffix("__details")
    assert (spec.evals.family, spec.evals.instruct, config, spec.data.rows, *ends, *read) == SETTINGS[name]
    assert (spec.prompt, spec.verdict) == ("input_final_prompts", "is_correct")
    assert spec.macro == ("subtask" if name in MACRO else None)
    assert not (isinstance(spec.extract, dict) and {"lone", "guess"} & {*spec.extract}), "a guess is no answer"


PUBLISHED: dict[str, dict[str, list[dict[str, Any]]]] = yaml.safe_load(
    (TASKS / "llama/published.yaml").read_text(encoding="utf-8")
)
RECIPE, CARD = "llama-cookbook README before 2024-10-01", "model card of Llama 3.1"
PRINTED = [  # model, task, source, (score, average) of each entry, as the source prints them
    ("3.1-8B-Instruct", "meta_math_hard", RECIPE, [(25.4, "micro"), (24.24, "micro")]),
    ("3.1-70B-Instruct", "meta_gpqa_cot", RECIPE, [(46.7, "micro"), (47.99, "micro")]),
    ("3.1-8B-Instruct", "meta_ifeval", RECIPE, [(80.4, "micro"), (77.82, "micro")]),
    ("3.1-70B", "meta_bbh", RECIPE, [(81.6, "micro"), (81.91, "micro")]),
    ("3.1-8B-Instruct", "meta_mmlu_pro_instruct", CARD, [(48.3, "macro")]),
    ("3.1-405B", "meta_mmlu_pro_pretrain", CARD, [(61.6, "macro")]),
    ("3.1-70B", "meta_mmlu", "eval_details.md of Llama 3.1", [(79.0, "micro")]),
    ("3.2-1B", "meta_mmlu", "llama-cookbook pull request 801", [(31.46, "micro")]),
    ("3.2-3B-Instruct", "meta_mmlu_instruct", "llama-cookbook pull request 862", [(63.68, "micro")]),
    ("3.2-1B-Instruct", "meta_gpqa", "tt-inference-server issue 139", [(27.01, "micro")]),
]


@pytest.mark.parametrize(("model", "task", "source", "scores"), PRINTED)
def test_scores_as_printed(model: str, task: str, source: str, scores: list[tuple[float, str]]) -> None:
    entries = PUBLISHED[f"Llama-{model}"][task]
    assert [(e["score"], e["average"]) for e in entries if e["source"] == source] == scores
