"""The harness runs our tasks by name, from Python and from files, with the scores of our own runs."""

import hashlib
import json
import shutil
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import lm_eval
import pytest
from lm_eval.models.huggingface import HFLM
from lm_eval.tasks import TaskManager
from tests.conftest import Cli, csv_rows, only_samples
from tests.harness_yaml import lm_eval_without_its_tasks
from tests.models.tiny import CHAT, tiny_llama
from tests.scoring.kinds import KINDS, TEXTS, write_task

from afrieval.config.settings import DataConfig, RunConfig, TaskConfig
from afrieval.exchange.lm_eval_export import definitions, task_manager
from afrieval.languages import LANGUAGES
from afrieval.models.backends.hf import HF
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
    cli("run", "--model.model_name", "demo", "--data.source", "samples", "--run_dir", folder, *words).ok()
    return {p.stem.removeprefix("samples_"): of_samples(read_samples(p)) for p in sample_files(folder)}


@cache
def exported() -> TaskManager:
    """Two prompts of three tasks on their samples, declared once."""
    tasks = TaskConfig(["afrimmlu", "afrixnli", "afrimgsm"], languages=["hau", "swa", "yor"], prompts=[1, 2])
    return task_manager(replace(SAMPLES, task=tasks))


def by_python(manager: TaskManager, tasks: list[str], **options: Any) -> dict[str, Any]:
    model = {"pretrained": str(demo_folder()), "dtype": "auto"}
    given = {"model": "hf", "model_args": model, "device": "cpu", "batch_size": 8, "bootstrap_iters": 0, **options}
    results: dict[str, Any] = lm_eval.simple_evaluate(tasks=tasks, task_manager=manager, **given)
    return results


@pytest.mark.parametrize(
    ("group", "words", "options"),
    [
        ("afrimmlu_yor", ("--eval.num_fewshot", 2, "--task.prompts", "1,2"), {"num_fewshot": 2}),
        ("afrixnli_hau_native", ("--task.prompt_language", "native", "--task.prompts", "1,2"), {}),
        ("afrimgsm_swa", ("--eval.num_fewshot", 1, "--task.prompts", 1), {"num_fewshot": 1}),
    ],
)
def test_by_name_from_python(
    cli: Cli, tmp_path: Path, group: str, words: tuple[object, ...], options: dict[str, Any]
) -> None:
    task, language = group.split("_")[:2]
    expected = ours(cli, tmp_path / "run", "--task.task_name", task, "--task.languages", language, *words)
    results = by_python(exported(), [group], **options)
    found = {name: of_samples(samples) for name, samples in results["samples"].items()}
    assert {name: found[name] for name in expected} == expected
    main = "exact_match" if task == "afrimgsm" else "acc"
    if "1,2" in words:
        means = [sum(s[main] for s in cell.values()) / len(cell) for cell in expected.values()]
        assert results["results"][group][f"{main},none"] == pytest.approx(sum(means) / len(means))


def test_choices_that_fill_a_blank(cli: Cli, tmp_path: Path) -> None:
    config = replace(SAMPLES, task=TaskConfig("idm_winogrande", languages=["afr"], prompts=[1]))
    words = ("--task.task_name", "idm_winogrande", "--task.prompts", 1, "--eval.num_fewshot", 2)
    results = by_python(task_manager(config), ["idm_winogrande_afr"], num_fewshot=2)
    found = {name: of_samples(samples) for name, samples in results["samples"].items()}
    assert found == ours(cli, tmp_path / "run", *words)


def test_the_mean_over_african_languages_has_no_others(cli: Cli, tmp_path: Path) -> None:
    config = replace(SAMPLES, task=TaskConfig("afrixnli", languages=["eng", "swa", "zul"], prompts=[1]))
    expected = ours(cli, tmp_path, "--task.task_name", "afrixnli", "--task.languages", "swa,zul", "--task.prompts", 1)
    results = by_python(task_manager(config), ["afrixnli_african"])
    means = [sum(s["acc"] for s in cell.values()) / len(cell) for cell in expected.values()]
    assert results["results"]["afrixnli_african"]["acc,none"] == pytest.approx(sum(means) / 2)
    assert set(results["samples"]) == set(expected)


def test_from_files_with_the_harness_own_command(cli: Cli, tmp_path: Path) -> None:
    shots = ("--eval.num_fewshot", 1)
    some = ("--task.task_name", "afrixnli,afrimgsm_cot", "--task.languages", "yor,eng", "--task.prompts", 2)
    expected = ours(cli, tmp_path / "run", *some, *shots, "--eval.max_gen_toks", 20)
    form = ("--to", "harness", tmp_path / "tasks", "--eval.max_gen_toks", 20, "--data.source", "samples")
    done = cli("export", *form, *some, *shots)
    assert done.code == 0 and f"lm_eval --include_path {tmp_path / 'tasks'} --tasks afrixnli_yor" in done.out, done.err
    model = ("--model", "hf", "--model_args", f"pretrained={demo_folder()}", "--device", "cpu", "--batch_size", "8")
    command = ("--include_path", tmp_path / "tasks", "--tasks", "afrixnli,afrimgsm_cot", "--log_samples")
    lm_eval_without_its_tasks(*command, *model, "--output_path", tmp_path / "out", cwd=tmp_path)
    for name, scores in expected.items():
        (path,) = (tmp_path / "out").glob(f"*/samples_{name}_*.jsonl")
        samples = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        assert of_samples(samples) == scores, name


def test_names_and_members() -> None:
    names = ["afrimmlu", "afrixnli", "afrimgsm", "afrimgsm_cot", "mmlu", "flores_to_eng"]
    found = definitions(RunConfig(task=TaskConfig(names)))
    for name in names:
        spec = load_task(name)
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
    of_all_tasks = definitions(RunConfig(task=TaskConfig(languages=["eng"], prompts=[1])))
    assert "sib200" in of_all_tasks and "tofu_forget" not in of_all_tasks, "the harness keeps no likelihoods of tokens"


def test_tasks_of_a_folder_of_ones_own_are_found_from_anywhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(TASKS / "afrixnli", tmp_path / "mine/afrixnli")
    monkeypatch.chdir(tmp_path)
    found = definitions(replace(SAMPLES, task=TaskConfig(folder="mine", languages=["yor"], prompts=[1])))
    assert set(found["afrixnli"]["task"]) == {"afrixnli_yor"} and "afrimmlu" not in found
    assert found["afrixnli_yor_eng_1"]["cell"]["task"]["folder"] == [str(tmp_path / "mine")]


def test_a_task_without_a_group_is_its_own_example(cli: Cli, tmp_path: Path) -> None:
    words = ("--task.task_name", "meta_gpqa", "--data.source", "samples")
    done = cli("export", "--to", "harness", tmp_path / "new", *words)
    assert done.code == 0 and "--tasks meta_gpqa " in done.out
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["meta_gpqa.yaml"]


def test_a_chat_is_the_same_by_name(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """System text, turns and the room for an answer; only the measure of that room is coarser."""
    for kind in (HF, HFLM):
        monkeypatch.setattr(kind, "generate_until", lambda lm, requests, disable_tqdm=False: ["5"] * len(requests))
    takes_system = CHAT.partition("{% endif %}")[2]
    model = tiny_llama(tmp_path / "chat", chat_template=takes_system, max_length=8192)
    words = ("--task.task_name", "afrimgsm", "--task.languages", "swa", "--task.prompts", 1, "--eval.limit", 1)
    own = ("--model.chat_template", "--eval.num_fewshot", 1, "--data.source", "samples", "--run_dir", tmp_path / "run")
    assert cli("run", "--model.model_name", model, *words, *own).code == 0
    (expected,) = only_samples(tmp_path / "run")
    results = lm_eval.simple_evaluate(
        model="hf", model_args={"pretrained": str(model)}, device="cpu", batch_size=8, bootstrap_iters=0, limit=1,
        tasks=["afrimgsm_swa_eng_1"], task_manager=exported(), apply_chat_template=True, num_fewshot=1,
    )  # fmt: skip
    (sample,) = results["samples"]["afrimgsm_swa_eng_1"]
    assert [list(a) for a in sample["arguments"]] == expected["arguments"]
    assert "Reply with the number only" in sample["arguments"][0][0]


def test_what_the_harness_is_told_about_generation_stays() -> None:
    task = exported().load(["afrimgsm_swa_eng_1"])["tasks"]["afrimgsm_swa_eng_1"]
    task.set_config(key="generation_kwargs", value={"until": ["STOP"]}, update=True)
    task.build_all_requests(limit=2)
    assert [r.args[1]["until"] for r in task.instances] == [["STOP"]] * 2, "and a limit saves work"


SAID = {
    "labels": ["joy", "none", "Joy, fear", "happy"],
    "levels": ["answer: 3", "Answer: 1", "answer: 0", "5"],
    "spans": ["PER: Musa\nLOC: Lagos", "none", "Well.\nper: Ada", "nothing"],
    "tags": ["Musa PROPN\nlives VERB", "The PROPN\nrain VERB\nsnow X", "Ada went", "all ADP"],
}
TEXTUAL = [*(yor for _, yor in TEXTS), TEXTS[0][0], " ", "ọjà", "Oja ni"]


@pytest.mark.usefixtures("flores200")
@pytest.mark.parametrize("kind", KINDS)
def test_scores_are_those_of_a_run(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    write_task(tmp_path / "tasks", kind)
    said = SAID.get(kind, TEXTUAL)

    def write(lm: object, requests: list[Any], disable_tqdm: bool = False) -> list[str]:
        """Answers as the prompts' hashes will have it."""
        hashes = [hashlib.sha256(f"{request.args[0]}{kind}".encode()).digest()[0] for request in requests]
        return [f" {said[number % len(said)]}" for number in hashes]

    monkeypatch.setattr(HF, "generate_until", write)
    monkeypatch.setattr(HFLM, "generate_until", write)
    where = ("--task.folder", tmp_path / "tasks", "--data.source", "samples", "--run_dir", tmp_path / "run")
    cli("run", "--model.model_name", "demo", "--task.task_name", kind, "--eval.num_fewshot", 1, *where).ok()
    (row,) = csv_rows(tmp_path / "run/summary.csv")
    config = replace(RunConfig(), data=DataConfig("samples"), task=TaskConfig(folder=str(tmp_path / "tasks")))
    results = lm_eval.simple_evaluate(
        model="hf",
        model_args={"pretrained": str(demo_folder()), "dtype": "auto"},
        device="cpu",
        bootstrap_iters=0,
        num_fewshot=1,
        tasks=[f"{kind}_yor_eng_1"],
        task_manager=task_manager(replace(config, task=replace(config.task, task_name=kind))),
    )
    found = {k.removesuffix(",none"): v for k, v in results["results"][f"{kind}_yor_eng_1"].items() if v != "N/A"}
    expected = {row["metric"]: float(row["score"])} | {name: float(row[name]) for name in found if name in row}
    assert {name: found[name] for name in expected} == pytest.approx(expected)
    # The harness does not say which answers ended at their limit.
    assert set(expected) == {m.name for m in load_task(kind, tmp_path / "tasks").scoring.metrics} - {"cut"}


def test_groups_have_the_metrics_of_all_their_members() -> None:
    config = RunConfig(data=DataConfig("samples"), task=TaskConfig("flores_from_eng", languages=["ewe", "swa"]))
    found = definitions(config)
    metrics = {
        code: [each["metric"] for each in found[f"flores_from_eng_{code}"]["aggregate_metric_list"]]
        for code in ("ewe", "swa", "african")
    }
    assert metrics["swa"] == [*metrics["ewe"], "output_language"] and metrics["african"] == metrics["ewe"]
