"""Every shipped config file is complete and can be read."""

from pathlib import Path

import pytest
import yaml

from afrieval.arguments import read_config
from afrieval.run.harness import template_names
from afrieval.run.plan import plan

ROOT = Path(__file__).parents[1]
MODELS, TASKS = (
    sorted((ROOT / "configs/models").glob("*")),
    sorted([*(ROOT / "configs/tasks").glob("*"), *(ROOT / "configs/suites").glob("*")]),
)


@pytest.mark.parametrize("path", MODELS, ids=lambda p: p.name)
def test_model_config(path: Path) -> None:
    config = read_config(
        ["--model-config-yaml", str(path), "--task.task_name", "afrimmlu"], command="run", needs_model=True
    )
    assert config.model.model_name
    assert "chat_template" in yaml.safe_load(path.read_text()), "chat template on or off is said in each file"


@pytest.mark.parametrize("path", TASKS, ids=lambda p: p.name)
def test_task_config_plans_cells(path: Path) -> None:
    words = ["--task-config-yaml", str(path), "--data.source", "samples"]
    if "task_template" in yaml.safe_load(path.read_text()):
        names = template_names(read_config(words, command="preview", needs_model=False))
        assert len(names) == 18 and all(len(of_language) == 5 for of_language in names.values())
        return
    native = "languages" in yaml.safe_load(path.read_text())
    if native:
        words += ["--task.languages", "yor,swa"]  # ibo has no sample rows
    if "5shot" in path.name:
        words += ["--eval.num_fewshot", "4"]  # the sample pool has four rows
    assert plan(read_config(words, command="preview", needs_model=False)).cells


def test_the_models_of_the_first_release_are_there() -> None:
    names = {yaml.safe_load(p.read_text())["model_name"] for p in MODELS}
    assert names >= {
        "demo",
        "meta-llama/Meta-Llama-3-8B-Instruct",
        "meta-llama/Llama-3.1-8B-Instruct",
        "google/gemma-2-9b-it",
        "CohereForAI/aya-101",
        "bigscience/mt0-xl",
        "lelapa/InkubaLM-0.4B",
        "Jacaranda/AfroLlama_V1",
        "Lugha-Llama/Lugha-Llama-8B-wura_edu",
    }
