"""Meta's Llama tasks run like any other, with their prompts as they are, and what cannot be right is refused."""

import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import yaml
from tests.conftest import Cli, read_config
from tests.tasks.meta_rows import TASKS, read

from afrieval._util.errors import UserError
from afrieval.config.settings import DataConfig, RunConfig, TaskConfig
from afrieval.models.backends.hf import HF
from afrieval.results.run_files import sample_files
from afrieval.results.samples import read_samples
from afrieval.run.manifest import default_folder
from afrieval.run.session import plan
from afrieval.scoring.responses import Generation
from afrieval.tasks.cells.limits import generation
from afrieval.tasks.cells.plan import declared_cells

EVALS = "meta-llama/Llama-3.1-8B-Instruct-evals"
SHORT = ("--eval.max_gen_toks", "8")


def samples_of(folder: Path) -> dict[str, list[dict[str, Any]]]:
    return {path.stem.removeprefix("samples_"): read_samples(path) for path in sample_files(folder)}


def record(folder: Path) -> dict[str, Any]:
    content: dict[str, Any] = yaml.safe_load((folder / "run.yaml").read_text(encoding="utf-8"))
    return content


@pytest.mark.parametrize("task", TASKS)
def test_each_task_runs_with_its_prompts_as_they_are(demo_run: Callable[..., Path], task: str) -> None:
    folder = demo_run("--task.task_name", task, *SHORT)
    (samples,) = samples_of(folder).values()
    for sample, row in zip(samples, read(task), strict=True):
        assert sample["published_correct"] == row["is_correct"]
        if not sample["metrics"]:
            assert sample["defect"]
            continue
        asked = row["input_final_prompts"][0]
        if task == "meta_mmlu":
            assert [pair[0] for pair in sample["arguments"]] == [asked[:-2]] * len(sample["arguments"])
            assert asked[-2:] in [pair[1] for pair in sample["arguments"]]
        else:
            assert sample["arguments"][0][0] == asked
    tokens = record(folder)["visits"][0]["first_tokens"][task]
    assert tokens[0] == 0 and 0 not in tokens[1:], "one beginning-of-sequence token, and no more"


def test_a_group_takes_the_tasks_of_the_models_data_set(run_demo: Cli, tmp_path: Path) -> None:
    run_demo("--task.task_name", "meta_instruct", "--task.evals_dataset", EVALS, "--eval.limit", 1, *SHORT).ok()
    ran = {name.removesuffix("_eng_eng_1") for name in samples_of(tmp_path / "run")}
    assert ran == {"meta_ifeval", "meta_math_hard", "meta_gpqa_cot", "meta_mmlu_pro_instruct"}
    declared = record(tmp_path / "run")["declared"]["meta_gpqa_cot"]
    assert declared["evals"] == EVALS and declared["published"]


def test_rows_that_cannot_be_scored_are_named_before_the_model_is_loaded(run_demo: Cli) -> None:
    done = run_demo("--task.task_name", "meta_math,meta_gpqa", *SHORT)
    assert "meta_math: 1 of 8 rows cannot be scored, no row of DigitalLearningGmbH/MATH-lighteval has" in done.err
    assert "meta_gpqa: 1 of 6 rows cannot be scored, no gold answer" in done.err
    assert "hf pads the prompts" in done.err


def test_a_model_without_room_for_the_longest_answer() -> None:
    """Nothing makes the limit smaller but the user: a cut answer is a wrong number."""
    config = RunConfig(task=TaskConfig(task_name="meta_math_hard"), data=DataConfig("samples"))
    (cell,), _ = declared_cells(config)
    longest = max(len(d.prompt.encode()) for d in cell.documents if d.gold is not None)
    for room, fits in ((longest + 5120, True), (longest + 5119, False), (5120, False)):
        lm: Any = SimpleNamespace(max_length=room, count_tokens=lambda text: len(text.encode()))
        if room == 5120:  # no prompt fits
            with pytest.raises(UserError, match="answers of meta_math_hard have 5,120 tokens, but the model's context"):
                generation(cell, lm)
            continue
        assert generation(cell, lm) == Generation(5120, (), "", runs_on=False)
        if fits:
            cell.check_fit(lm)
            continue
        with pytest.raises(UserError, match=f"may have {longest} and 5120 tokens, but the model's context has {room}"):
            cell.check_fit(lm)
    (cell,), _ = declared_cells(replace(config, task=TaskConfig(task_name="meta_bbh")))
    assert tuple(generation(cell, lm).stop) == ("\n\nQ: ",)


def test_data_sets_of_other_models_have_folders_of_their_own() -> None:
    folders = []
    for model, evals in (("demo", "3.1-8B"), ("demo", "3.1-70B"), ("meta-llama/Llama-3.1-8B", "3.1-8B")):
        words = ["--model.model_name", model, "--task.evals_dataset", f"meta-llama/Llama-{evals}-evals"]
        words += ["--task.task_name", "meta_bbh", "--data.source", "samples"]
        config = read_config(words, command="run", needs_model=True)
        folders.append(default_folder(config, plan(config).cells).name)
    assert folders == [f"generate-0shot-{end}samples" for end in ("Llama-3.1-8B-", "Llama-3.1-70B-", "")]


def test_a_second_beginning_token_is_refused(run_demo: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    plain = HF.tok_encode

    def twice(lm: HF, *args: Any, **kwargs: Any) -> list[int]:
        return [0, *plain(lm, *args, **kwargs)]

    monkeypatch.setattr(HF, "tok_encode", twice)
    done = run_demo("--task.task_name", "meta_bbh", *SHORT)
    assert done.code == 2 and "would begin with two beginning-of-sequence tokens" in done.err


def test_prompts_that_begin_with_the_token_do_not_get_a_second(run_demo: Cli, tmp_path: Path) -> None:
    folder = tmp_path / "tasks/meta_bbh"
    (folder / "sample").mkdir(parents=True)
    declared = Path("tasks/llama/meta_bbh/task.yaml").read_text(encoding="utf-8")
    (folder / "task.yaml").write_text(declared, encoding="utf-8")
    rows = [{**row, "input_final_prompts": ["<s>" + row["input_final_prompts"][0]]} for row in read("meta_bbh")]
    (folder / "sample/eng.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    run_demo("--task.task_name", "meta_bbh", "--task.folder", tmp_path / "tasks", *SHORT).ok()
    tokens = record(tmp_path / "run")["visits"][0]["first_tokens"]["meta_bbh"]
    assert tokens[0] == 0 and 0 not in tokens[1:]


def test_samples_of_ifeval_name_the_instructions_and_which_are_followed(
    cli: Cli, demo_run: Callable[..., Path]
) -> None:
    folder = demo_run("--task.task_name", "meta_ifeval", *SHORT)
    done = cli("samples", folder, "--only", "all")
    assert done.code == 0 and "  gold: punctuation:no_comma, length_constraints:number_words" in done.out
    lines = re.findall(r"  gold: (.*)\n  followed: (.*)", done.out)
    assert lines and all(gold.count(",") == kept.count(",") for gold, kept in lines)
    (samples,) = samples_of(folder).values()
    flags = [["yes" if kept else "no" for kept in s["inst_level_strict_acc"]] for s in samples[: len(lines)]]
    assert [kept.split(", ") for _, kept in lines] == flags
