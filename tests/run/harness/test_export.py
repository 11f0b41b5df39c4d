"""The harness runs our tasks by name, from Python and from files, with the scores of our own runs."""

import json
import os
import shutil
import subprocess
import sys
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import lm_eval
import pytest
from lm_eval.tasks import TaskManager
from tests.conftest import TEMPLATED, Cli
from tests.models.tiny import CHAT, tiny_llama

from afrieval.config.settings import DataConfig, RunConfig, TaskConfig
from afrieval.exchange.lm_eval_export import definitions, task_manager
from afrieval.languages import LANGUAGES
from afrieval.models.demo import demo_folder
from afrieval.results.run_files import sample_files
from afrieval.results.samples import read_samples
from afrieval.tasks.declaration.spec import TASKS, load_task

SAMPLES = replace(RunConfig(), data=DataConfig("samples"))
METRICS = ("acc", "acc_norm", "acc_bytes", "exact_match", "unparsed")
Scores = dict[str, dict[int, dict[str, float]]]


def of_samples(samples: list[dict[str, Any]]) -> dict[int, dict[str, float]]:
    """Scores by row number; the harness leaves out rows without an answer and numbers the others anew."""
    return {s["doc"]["id"]: {m: s[m] for m in METRICS if m in s} for s in samples if s["metrics"]}


def ours(cli: Cli, folder: Path, *words: object) -> Scores:
    done = cli("run", "--model.model_name", "demo", "--data.source", "samples", "--run_dir", folder, *words)
    assert done.code == 0, done.err
    return {p.stem.removeprefix("samples_"): of_samples(read_samples(p)) for p in sample_files(folder)}


@cache
def all_tasks() -> TaskManager:
    """All our tasks on their samples, declared once for the tests that run one of them."""
    return task_manager(SAMPLES)


def by_python(manager: TaskManager, tasks: list[str], **options: Any) -> dict[str, Any]:
    model = {"pretrained": str(demo_folder()), "dtype": "auto"}
    given = {"model": "hf", "model_args": model, "device": "cpu", "batch_size": 8, "bootstrap_iters": 0, **options}
    results: dict[str, Any] = lm_eval.simple_evaluate(tasks=tasks, task_manager=manager, **given)
    return results


@pytest.mark.parametrize(
    ("group", "words", "options"),
    [
        pytest.param("afrimmlu_yor", (), {}, marks=pytest.mark.slow),
        ("afrimmlu_yor", ("--eval.num_fewshot", 2, "--task.prompts", "1,2"), {"num_fewshot": 2}),
        ("afrixnli_hau_native", ("--task.prompt_language", "native"), {}),
        ("afrimgsm_swa", ("--eval.num_fewshot", 1, "--task.prompts", 1), {"num_fewshot": 1}),
        pytest.param(
            "afrimmlu_translate_yor", ("--task.variant", "translate", "--task.prompts", 3), {}, marks=pytest.mark.slow
        ),
    ],
)
def test_by_name_from_python(
    cli: Cli, tmp_path: Path, group: str, words: tuple[object, ...], options: dict[str, Any]
) -> None:
    task, language = group.replace("_translate", "").split("_")[:2]
    expected = ours(cli, tmp_path / "run", "--task.task_name", task, "--task.languages", language, *words)
    results = by_python(all_tasks(), [group], **options)
    found = {name: of_samples(samples) for name, samples in results["samples"].items()}
    assert {name: found[name] for name in expected} == expected
    main = "exact_match" if task == "afrimgsm" else "acc"
    if "--task.prompts" not in words:
        means = [sum(s[main] for s in cell.values()) / len(cell) for cell in expected.values()]
        assert results["results"][group][f"{main},none"] == pytest.approx(sum(means) / len(means))


def test_the_mean_over_african_languages_has_no_others(cli: Cli, tmp_path: Path) -> None:
    config = replace(SAMPLES, task=TaskConfig(languages=["eng", "swa", "zul"], prompts=[1]))
    expected = ours(cli, tmp_path, "--task.task_name", "afrixnli", "--task.languages", "swa,zul", "--task.prompts", 1)
    results = by_python(task_manager(config), ["afrixnli_african"])
    means = [sum(s["acc"] for s in cell.values()) / len(cell) for cell in expected.values()]
    assert results["results"]["afrixnli_african"]["acc,none"] == pytest.approx(sum(means) / 2)
    assert set(results["samples"]) == set(expected)


def test_from_files_with_the_harness_own_command(cli: Cli, tmp_path: Path) -> None:
    shots = ("--eval.num_fewshot", 1)
    some = ("--task.task_name", "afrixnli,afrimgsm_cot", "--task.languages", "yor,eng", "--task.prompts", 2)
    expected = ours(cli, tmp_path / "run", *some, *shots, "--eval.max_gen_toks", 20)
    done = cli(
        "export",
        "--to",
        "harness",
        tmp_path / "tasks",
        *some,
        *shots,
        "--eval.max_gen_toks",
        20,
        "--data.source",
        "samples",
    )
    assert done.code == 0 and f"lm_eval --include_path {tmp_path / 'tasks'} --tasks afrixnli_yor" in done.out, done.err
    model = ("--model", "hf", "--model_args", f"pretrained={demo_folder()}", "--device", "cpu", "--batch_size", "8")
    command = ("--include_path", tmp_path / "tasks", "--tasks", "afrixnli,afrimgsm_cot", "--log_samples")
    subprocess.run(
        [sys.executable, "-m", "lm_eval", *map(str, command), *model, "--output_path", str(tmp_path / "out")],
        check=True,
        capture_output=True,
        cwd=tmp_path,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )
    for name, scores in expected.items():
        (path,) = (tmp_path / "out").glob(f"*/samples_{name}_*.jsonl")
        samples = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        assert of_samples(samples) == scores, name


def test_names_and_members() -> None:
    found = definitions(RunConfig())
    for name in TEMPLATED:
        spec = load_task(name)
        if spec.texts:  # the harness keeps no likelihoods of tokens
            assert name not in found
            continue
        assert {f"{name}_{language}" for language in spec.languages} == set(found[name]["task"])
        assert all(f"{name}_{language}_eng_1" in found for language in spec.languages)
        assert "aggregate_metric_list" not in found[name], "it would mix English and French with the others"
        african = any(LANGUAGES[code].african for code in spec.languages)
        assert (f"{name}_african" in found) == african, "MMLU is in English only"
        assert not african or {f"{name}_eng", f"{name}_fra"}.isdisjoint(found[f"{name}_african"]["task"])
    assert "afrixnli_lin" not in found["afrixnli_african"]["task"], "its data has a known defect as a whole"
    assert "afrixnli_translate_lin" in found["afrixnli_translate_african"]["task"]
    assert found["irokobench"]["task"] == ["afrimmlu", "afrixnli", "afrimgsm", "afrimgsm_cot"]
    assert found["irokobench_native"]["task"][0] == "afrimmlu_native"
    assert found["afrimmlu_yor_native"]["task"] == [f"afrimmlu_yor_native_{n}" for n in (1, 2, 3)]
    members = {member for definition in found.values() for member in definition["task"] if "group" in definition}
    assert members <= set(found)


META = ("--to", "harness", "new", "--data.source", "samples", "--task.task_name", "meta_gpqa")


def test_tasks_of_a_folder_of_ones_own_are_found_from_anywhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(TASKS / "afrixnli", tmp_path / "mine/afrixnli")
    monkeypatch.chdir(tmp_path)
    found = definitions(replace(SAMPLES, task=TaskConfig(folder="mine", languages=["yor"], prompts=[1])))
    assert set(found["afrixnli"]["task"]) == {"afrixnli_yor"} and "afrimmlu" not in found
    assert found["afrixnli_yor_eng_1"]["cell"]["task"]["folder"] == str(tmp_path / "mine")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--to", "harness"), "FOLDER is missing"),
        (("--to", "helm", "x"), 'or huggingface-eval-yaml, not "helm"'),
        ((), "--to is missing"),
        (("docs", "--to=helm"), 'or huggingface-eval-yaml, not "helm"'),
        (("--to", "harness", "docs"), "docs exists and is not empty"),
        (("--to", "harness", "new", "--task.task_name", "afrimlu"), "unknown task 'afrimlu'"),
        (("--to", "harness", "new", "--task.task_name", "afrimmlu", "--task.languages", "yo"), "has no language 'yo'"),
        (("--to", "harness", "new", "--task.task_name", "afrimgsm", "--task.answer_form", "letter"), "no answer form"),
        ((*META, "--task.prompts", "2"), "no prompt 2"),
        ((*META, "--task.answer_form", "letter"), "no answer form"),
        (("--to", "harness", "new", "--data.source", "nowhere"), "a folder, not 'nowhere'"),
        (("--to", "harness", "/proc/new"), "/proc/new cannot be written"),
    ],
)
def test_what_makes_no_sense(cli: Cli, words: tuple[str, ...], message: str) -> None:
    refused = cli("export", *words)
    assert refused.code == 2 and message in refused.err


def test_a_task_without_a_group_is_its_own_example(cli: Cli, tmp_path: Path) -> None:
    words = ("--task.task_name", "meta_gpqa", "--data.source", "samples")
    done = cli("export", "--to", "harness", tmp_path / "new", *words)
    assert done.code == 0 and "--tasks meta_gpqa " in done.out
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["meta_gpqa.yaml"]


def test_a_chat_is_the_same_by_name(cli: Cli, tmp_path: Path) -> None:
    """System text, turns and the room for an answer; only the measure of that room is coarser."""
    takes_system = CHAT.partition("{% endif %}")[2]
    model = tiny_llama(tmp_path / "chat", chat_template=takes_system, max_length=8192)
    words = ("--task.task_name", "afrimgsm", "--task.languages", "swa", "--task.prompts", 1, "--eval.limit", 1)
    own = ("--model.chat_template", "--eval.num_fewshot", 1, "--data.source", "samples", "--run_dir", tmp_path / "run")
    assert cli("run", "--model.model_name", model, *words, *own).code == 0
    (expected,) = read_samples(sample_files(tmp_path / "run")[0])
    results = lm_eval.simple_evaluate(
        model="hf", model_args={"pretrained": str(model)}, device="cpu", batch_size=8, bootstrap_iters=0, limit=1,
        tasks=["afrimgsm_swa_eng_1"], task_manager=all_tasks(), apply_chat_template=True, num_fewshot=1,
    )  # fmt: skip
    (sample,) = results["samples"]["afrimgsm_swa_eng_1"]
    assert [list(a) for a in sample["arguments"]] == expected["arguments"]
    assert "Reply with the number only" in sample["arguments"][0][0]


def test_what_the_harness_is_told_about_generation_stays() -> None:
    task = all_tasks().load(["afrimgsm_swa_eng_1"])["tasks"]["afrimgsm_swa_eng_1"]
    task.set_config(key="generation_kwargs", value={"until": ["STOP"]}, update=True)
    task.build_all_requests(limit=2)
    assert [r.args[1]["until"] for r in task.instances] == [["STOP"]] * 2, "and a limit saves work"
