"""Every shipped config file is complete and can be read."""

import re
from pathlib import Path

import lm_eval
import pytest
import yaml

from afrieval.models.registry import backend_of
from afrieval.run.harness.plan import chat_notes, template_names
from afrieval.run.session import plan
from afrieval.tasks.declaration.spec import load_task
from tests.conftest import read_config

ROOT = Path(__file__).parents[1]
MODELS, TASKS = (
    sorted((ROOT / "configs/models").glob("*")),
    sorted([*(ROOT / "configs/tasks").glob("*"), *(ROOT / "configs/suites").glob("*")]),
)
LLAMA3 = Path(lm_eval.__file__).parent / "tasks/llama3"
LLAMA3_SHOTS = {
    "llama3-arc-challenge": 0, "llama3-gsm8k": 8, "llama3-mmlu": 5, "llama3-mmlu-cot": 0, "llama3-mmlu-pro": 5,
    "llama3-mmlu-multilingual": 5,
}  # fmt: skip


def test_model_configs() -> None:
    for path in MODELS:
        words = ["--model-config-yaml", str(path), "--task.task_name", "afrimmlu"]
        config = read_config(words, command="run", needs_model=True)
        assert config.model.model_name, path.name
        said = "chat_template" in yaml.safe_load(path.read_text())
        served = backend_of(config.model.model_type).served
        assert said or served, f"chat template on or off is said in {path.name}, unless the server has it"


@pytest.mark.parametrize("path", TASKS, ids=lambda p: p.name)
def test_task_config_plans_cells(path: Path) -> None:
    words = ["--task-config-yaml", str(path), "--data.source", "samples"]
    if "task_template" in yaml.safe_load(path.read_text()):
        task = read_config(words, command="preview", needs_model=False).task
        names = template_names(task.task_template, task.languages)
        assert len(names) == 18 and all(len(of_language) == 5 for of_language in names.values())
        return
    if "harness_tasks" in yaml.safe_load(path.read_text()):
        assert path.stem in LLAMA3_SHOTS, "the tests below know it"
        return
    config = read_config(words, command="preview", needs_model=False)
    of_tasks = [{*load_task(name).languages} for name in config.task.names]
    known = set.union(*of_tasks) if config.task.suite else set.intersection(*of_tasks)
    some = [code for code in ("yor", "swa", "eng") if code in known]
    words += ["--task.languages", ",".join(some)]  # ibo has no sample rows
    if "5shot" in path.name:
        words += ["--eval.num_fewshot", "4"]  # the sample pool has four rows
    assert plan(read_config(words, command="preview", needs_model=False)).cells


def declared(folder: Path) -> dict[str, Path]:
    """Returns where the tasks and groups of a folder of the harness are declared, without its index of 12 s."""
    found = {}
    for path in folder.rglob("*.yaml"):
        for name in re.findall(r'^"?(?:task|group)"?: *"?([\w-]+)"?$', path.read_text(), re.M):
            found[name] = path
    return found


def test_tasks_of_the_llama_recipe_are_the_harness_own() -> None:
    known = declared(LLAMA3)
    assert len(known) > 500 and "mmlu_llama_anatomy" in known and "mmlu_llama_stem" in known
    for name, shots in LLAMA3_SHOTS.items():
        words = ["--task-config-yaml", str(ROOT / f"configs/tasks/{name}.yaml")]
        config = read_config(words, command="preview", needs_model=False)
        assert config.model.chat_template and config.eval.num_fewshot is None, "the task's own number holds"
        for task in config.task.harness_names:
            own = {
                n
                for p in known[task].parent.glob("*yaml")
                for n in re.findall(r"^num_fewshot: (\d+)", p.read_text(), re.M)
            }
            assert own == {str(shots)}, task
            assert chat_notes({task: task})


def test_all_tasks_of_the_llama_recipe_are_known_as_chats() -> None:
    assert all(chat_notes({name: name}) for name in declared(LLAMA3))
    assert chat_notes({"mmlu_llama_anatomy": "mmlu_llama", "mmlu_llama_virology": "mmlu_llama", "gsm8k": "gsm8k"}) == [
        "mmlu_llama is meant for a chat template: add --model.chat_template true"
    ]
    assert not chat_notes({name: name for name in ("gsm8k", "llama_guard", "bertaqa_en_mt_llama-2-7b")})


def test_the_models_of_the_first_release_are_there() -> None:
    names = {yaml.safe_load(p.read_text())["model_name"].rpartition("/")[2] for p in MODELS}
    assert names >= {
        *("demo", "Meta-Llama-3-8B-Instruct", "Llama-3.1-8B-Instruct", "gemma-2-9b-it", "aya-101", "mt0-xl"),
        *("InkubaLM-0.4B", "AfroLlama_V1", "Lugha-Llama-8B-wura_edu"),
    }
