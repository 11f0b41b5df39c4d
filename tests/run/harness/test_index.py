"""The harness' own task files: names resolve, and real tasks run on real data."""

from pathlib import Path
from typing import Any

import lm_eval
import pytest
from tests.conftest import REAL_DATA, ROOT, Cli, read_config

from afrieval._util.errors import UserError
from afrieval.results.run_files import sample_path
from afrieval.results.samples import read_samples
from afrieval.run.harness.plan import template_names

CLEAN = """\
You are a highly knowledgeable and intelligent artificial intelligence
model answers multiple-choice questions about elementary_mathematics

Question: Kínni iyì p nínú 24 = 2p?

Choices:
A: p = 4
B: p = 8
C: p = 12
D: p = 24

Answer:"""


@pytest.fixture(scope="module")
def manager() -> Any:
    from lm_eval.tasks import TaskManager

    folders = [Path(lm_eval.__file__).parent / "tasks" / name for name in ("afrimmlu", "afrimgsm", "mmlu/default")]
    return TaskManager(include_path=list(map(str, folders)), include_defaults=False)


def test_names_of_the_shipped_config_are_tasks(manager: Any) -> None:
    from afrieval.run.harness.index import find

    words = ["--task-config-yaml", str(ROOT / "configs/tasks/afrimmlu-harness.yaml")]
    task = read_config(words, command="preview", needs_model=False).task
    names = template_names(task.task_template, task.languages)
    for of_language in names.values():
        assert [t.name for t in find(of_language, manager.task_index)[0]] == of_language


def test_groups_and_tags_are_their_leaf_tasks(manager: Any) -> None:
    from afrieval.run.harness.index import find

    tasks, groups = find(["afrimmlu-irokobench", "mmlu", "afrimgsm_tasks"], manager.task_index)
    assert len(groups["afrimmlu-irokobench"]["tasks"]) == 90 and len(groups["mmlu"]["tasks"]) == 57
    assert groups["mmlu"]["children"] == ["mmlu_stem", "mmlu_other", "mmlu_social_sciences", "mmlu_humanities"]
    assert len(tasks) == len({t.name for t in tasks}) == 90 + 57 + 95
    with pytest.raises(UserError) as refused:
        find(["afrimmlu_yor_prompt_1"], manager.task_index)
    assert "afrimmlu_direct_yor_prompt_1" in refused.value.hint


@pytest.mark.data
@pytest.mark.parametrize("words", [(), ("--task.clean_prompts",)], ids=["as they are", "clean"])
def test_real_tasks_on_real_data(
    cli: Cli, tmp_path: Path, manager: Any, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    monkeypatch.setattr("afrieval.run.harness.index.task_manager", lambda: manager)
    monkeypatch.setattr("datasets.config.HF_DATASETS_CACHE", str(tmp_path / "cache"))
    done = cli(
        "run", "--model.model_name", "demo", "--data.source", REAL_DATA, "--run_dir", tmp_path / "run",
        "--task.task_template", "afrimmlu_direct_{{language}}_prompt_1", "--task.languages", "yor,swa",
        "--eval.limit", 3, *words,
    ).ok()  # fmt: skip
    assert "Yoruba" in done.out and "Swahili" in done.out
    sample = read_samples(sample_path(tmp_path / "run", "afrimmlu_direct_yor_prompt_1"))[0]
    prompt = sample["arguments"][0][0]
    assert prompt.split() == CLEAN.split()
    assert (prompt == CLEAN) if words else prompt.endswith("D: p = 24\n\n                Answer:  ")
