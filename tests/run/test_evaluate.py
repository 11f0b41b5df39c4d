"""Runs on the sample rows: right numbers, whole files, nothing done twice, nothing lost."""

import csv
import json
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.conftest import ROOT, Cli
from tests.models.tiny import CHAT, tiny_llama, tiny_t5
from tests.run.slow import slow_loglikelihood

from afrieval.models.demo import demo_folder
from afrieval.results.run_files import sample_files, sample_path
from afrieval.results.samples import read_samples


def run_folder(tmp_path: Path) -> Path:
    return tmp_path / "run"


def names(folder: Path) -> set[str]:
    return {p.stem.removeprefix("samples_") for p in sample_files(folder)}


def summary(folder: Path) -> list[dict[str, str]]:
    with (folder / "summary.csv").open() as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize(
    "words", [(), ("--task.answer_form=letter", "--eval.num_fewshot=2"), ("--task.task_name=afrixnli",)]
)
def test_stored_likelihoods_are_those_of_the_slow_way(run_demo: Cli, tmp_path: Path, words: tuple[str, ...]) -> None:
    cells = ("--task.languages", "yor,amh", "--task.prompts", "1,2", "--task.prompt_language", "both")
    done = run_demo(*cells, "--eval.limit", 2, *words)
    assert done.code == 0, done.err
    checked = 0
    for path in sample_files(run_folder(tmp_path)):
        sample = read_samples(path)[0]
        for request, ((value, _, tokens),) in zip(sample["arguments"], sample["resps"], strict=True):
            assert value == pytest.approx(slow_loglikelihood(demo_folder(), *request), abs=1e-4)
            assert tokens == len(request[1].encode())
            checked += 1
    assert checked >= 8 * 3


def test_the_run_folder_holds_what_it_should(run_demo: Cli, tmp_path: Path) -> None:
    done = run_demo("--task.languages", "hau,eng", "--task.prompt_language", "both", "--eval.num_fewshot", 1)
    folder = run_folder(tmp_path)
    assert done.code == 0 and str(folder) in done.out
    assert names(folder) == {f"afrimmlu_eng_eng_{n}" for n in range(1, 6)} | {
        *(f"afrimmlu_hau_eng_{n}" for n in range(1, 6)),
        *(f"afrimmlu_hau_native_{n}" for n in range(1, 4)),
    }
    sample = read_samples(sample_path(folder, "afrimmlu_hau_native_2"))[3]
    harness = "doc_id doc target arguments resps filtered_resps doc_hash prompt_hash target_hash metrics"
    ours = "task language prompt prompt_language fewshot_ids defect"
    assert set(f"{harness} {ours}".split()) <= set(sample)
    assert sample["doc_id"] == 3 and sample["prompt_language"] == "native" and len(sample["fewshot_ids"]) == 1
    record = yaml.safe_load((folder / "run.yaml").read_text())
    assert record["fewshot_ids"]["afrimmlu_hau_native_2"] == sample["fewshot_ids"]
    assert set(record["identity"]["tasks"]["afrimmlu"]["data"]["hau"]) == {"test", "dev"}
    visit = record["visits"][0]
    assert visit["device"] == "cpu" and visit["dtype"] == "torch.float32" and visit["versions"]["lm-eval"]
    results = json.loads((folder / "results.json").read_text())
    assert set(results["results"]) == names(folder) and results["n-shot"]["afrimmlu_eng_eng_1"] == 1


def test_the_row_without_gold_is_stored_marked_and_counted(run_demo: Cli, tmp_path: Path) -> None:
    run_demo("--task.languages", "hau", "--task.prompts", "1")
    folder = run_folder(tmp_path)
    samples = read_samples(sample_path(folder, "afrimmlu_hau_eng_1"))
    assert [s["doc_id"] for s in samples] == list(range(8))
    assert samples[7]["defect"] and samples[7]["resps"] == [] and "acc" not in samples[7]
    (row,) = summary(folder)
    assert (row["n"], row["n_defect"]) == ("7", "1")
    assert float(row["score"]) == pytest.approx(sum(s["acc"] for s in samples[:7]) / 7)


def stamps(folder: Path) -> dict[str, int]:
    return {p.name: p.stat().st_mtime_ns for p in sample_files(folder)}


def test_the_same_command_again_does_nothing_and_loads_no_model(
    run_demo: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ("--task.languages", "yor", "--task.prompts", "1,2")
    first = run_demo(*words)
    before = stamps(run_folder(tmp_path))

    def refuse(*args: object) -> None:
        raise AssertionError("the model was loaded")

    monkeypatch.setattr("afrieval.models.load.load_model", refuse)
    again = run_demo(*words)
    assert again.code == 0 and again.out == first.out
    assert stamps(run_folder(tmp_path)) == before


def test_more_languages_prompts_and_documents_go_on_in_the_same_folder(run_demo: Cli, tmp_path: Path) -> None:
    folder = run_folder(tmp_path)
    run_demo("--task.languages", "yor", "--task.prompts", "1", "--eval.limit", 3)
    before, small = stamps(folder), read_samples(sample_path(folder, "afrimmlu_yor_eng_1"))
    run_demo("--task.languages", "yor,swa", "--task.prompts", "1", "--eval.limit", 3)
    assert stamps(folder)["samples_afrimmlu_yor_eng_1.jsonl"] == before["samples_afrimmlu_yor_eng_1.jsonl"]
    assert names(folder) == {"afrimmlu_yor_eng_1", "afrimmlu_swa_eng_1"}
    run_demo("--task.languages", "yor", "--task.prompts", "1", "--eval.batch_size", 3)
    large = read_samples(sample_path(folder, "afrimmlu_yor_eng_1"))
    assert len(large) == 8 and large[:3] == small
    assert len(yaml.safe_load((folder / "run.yaml").read_text())["visits"]) == 3


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        (("--eval.num_fewshot", "2"), "fewshot.num_fewshot was 0 and is 2"),
        (("--task.answer_form", "letter"), "answer_form was 'text' and is 'letter'"),
        (("--model.dtype", "bfloat16"), "model.dtype was 'auto' and is 'bfloat16'"),
        (("--model.add_bos_token", "false"), "model.add_bos_token was not given and is False"),
    ],
)
def test_another_config_in_the_same_folder_is_refused(
    run_demo: Cli, tmp_path: Path, changed: tuple[str, str], named: str
) -> None:
    words = ("--task.languages", "yor", "--task.prompts", "1", "--eval.limit", 1)
    run_demo(*words)
    before = stamps(run_folder(tmp_path))
    done = run_demo(*words, *changed)
    assert done.code == 2 and named in done.err and "--run_dir" in done.err
    assert stamps(run_folder(tmp_path)) == before


def test_other_weights_under_the_same_name_are_refused(run_demo: Cli, tmp_path: Path) -> None:
    model = tiny_llama(tmp_path / "model", seed=0)
    words = ("--model.model_name", model, "--task.languages", "yor", "--eval.limit", 1)
    assert run_demo(*words, "--task.prompts", 1).code == 0
    tiny_llama(model, seed=1)
    done = run_demo(*words, "--task.prompts", 2)
    assert done.code == 2 and "model.size_and_time_of_files was" in done.err
    assert run_demo(*words, "--task.prompts", 1).code == 2, (
        "nor are they taken for the old ones where nothing is missing"
    )


def test_changed_data_or_prompts_are_refused(run_demo: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    words = ("--task.languages", "yor", "--task.prompts", 1, "--eval.limit", 1)
    run_demo(*words)
    monkeypatch.setattr("afrieval.tasks.prompts.prompts.Prompt.hash", property(lambda self: "other"))
    done = run_demo(*words)
    assert done.code == 2 and "tasks.afrimmlu.prompts.eng.1" in done.err


def test_another_reading_of_the_rows_is_refused(run_demo: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run_demo("--task.languages", "yor", "--task.prompts", 1, "--eval.limit", 1)
    monkeypatch.setattr("afrieval.tasks.declaration.spec.TaskSpec.declaration", property(lambda self: "other"))
    done = run_demo("--task.languages", "yor", "--task.prompts", 2, "--eval.limit", 1)
    assert done.code == 2 and "tasks.afrimmlu.declaration" in done.err


def test_an_argument_of_the_backend_makes_another_run(run_demo: Cli, tmp_path: Path) -> None:
    words = ("--task.languages", "yor", "--eval.limit", 1)
    run_demo(*words, "--task.prompts", 1)
    done = run_demo(*words, "--task.prompts", 2, "--model.backend_args.max_length", 40)
    assert done.code == 2 and "model.backend_args" in done.err


def test_samples_without_run_yaml_are_nobodys(run_demo: Cli, tmp_path: Path) -> None:
    words = ("--task.languages", "yor", "--task.prompts", 1, "--eval.limit", 1)
    run_demo(*words)
    for content in (None, "", "5", "identity: 5"):
        (run_folder(tmp_path) / "run.yaml").unlink()
        if content is not None:
            (run_folder(tmp_path) / "run.yaml").write_text(content)
        done = run_demo(*words)
        assert done.code == 2 and "run.yaml" in done.err and "Traceback" not in done.err, content
        (run_folder(tmp_path) / "run.yaml").touch()


@pytest.mark.parametrize("fault", ["line lost", "line twice", "another cell", "no document", "empty"])
def test_a_sample_file_that_no_run_wrote(run_demo: Cli, tmp_path: Path, fault: str) -> None:
    words = ("--task.languages", "yor", "--task.prompts", "1,2")
    run_demo(*words)
    path = sample_path(run_folder(tmp_path), "afrimmlu_yor_eng_1")
    lines = path.read_text().splitlines()
    other = sample_path(run_folder(tmp_path), "afrimmlu_yor_eng_2").read_text().splitlines()
    faulty = {
        "line lost": lines[:3] + lines[4:],
        "line twice": [lines[0], *lines[:7]],
        "another cell": other,
        "no document": [*lines[:7], "{}"],
        "empty": [],
    }
    path.write_text("\n".join(faulty[fault]) + "\n")
    done = run_demo(*words)
    assert done.code == 2 and "afrimmlu_yor_eng_1" in done.err and "Traceback" not in done.err


def test_a_model_that_gives_no_numbers_gets_no_score(run_demo: Cli, tmp_path: Path) -> None:
    import torch
    from transformers import AutoModelForCausalLM

    folder = tiny_llama(tmp_path / "nan")
    model = AutoModelForCausalLM.from_pretrained(folder)
    with torch.no_grad():
        model.lm_head.weight[5, 0] = float("nan")
    model.save_pretrained(folder)
    done = run_demo("--model.model_name", folder, "--task.languages", "yor", "--task.prompts", 1)
    assert done.code == 2 and "NaN" in done.err and "--model.dtype" in done.err
    assert not sample_files(run_folder(tmp_path))


def test_a_damaged_sample_file_is_named_and_the_rest_is_kept(run_demo: Cli, tmp_path: Path) -> None:
    words = ("--task.languages", "yor", "--task.prompts", "1,2")
    run_demo(*words)
    path = sample_path(run_folder(tmp_path), "afrimmlu_yor_eng_1")
    good = path.read_text()
    path.write_text(good.replace("{", "", 1))
    done = run_demo(*words)
    assert done.code == 2 and f"{path}, line 1" in done.err
    path.unlink()
    assert run_demo(*words).code == 0 and path.read_text() == good


def start(folder: Path, *words: str) -> subprocess.Popen[str]:
    base = ["--model.model_name", "demo", "--data.source", "samples", "--task.task_name", "afrimmlu"]
    command = [sys.executable, "src/evaluate.py", *base, "--run_dir", str(folder), "--eval.batch_size", "1", *words]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def answered(folder: Path) -> list[str]:
    return [line for p in folder.glob("answers_*.jsonl") for line in p.read_text().split("\n") if line.endswith("]")]


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_a_killed_run_goes_on_and_ends_as_if_it_had_not_been(tmp_path: Path, how: signal.Signals) -> None:
    # the slow way and several cells, so that the run is not over before it is killed
    words = ("--task.languages", "yor,hau,swa,zul", "--task.prompts", "1,3", "--model.engine", "plain")
    killed, whole = tmp_path / "killed", tmp_path / "whole"
    process = start(killed, *words)
    deadline = time.monotonic() + 120
    while len(answered(killed)) < 10 and time.monotonic() < deadline and process.poll() is None:
        time.sleep(0.02)
    process.send_signal(how)
    _, err = process.communicate(timeout=60)
    assert process.returncode == (130 if how == signal.SIGINT else -how), err
    assert "Traceback" not in err
    kept = answered(killed)
    assert len(kept) >= 10 and len(sample_files(killed)) < 8
    for folder in (killed, whole):
        process = start(folder, *words)
        _, err = process.communicate(timeout=120)
        assert process.returncode == 0, err
    assert answered(killed)[: len(kept)] == kept, "what was answered was kept"
    assert len(set(answered(killed))) == len(answered(killed)) == len(answered(whole)), "nothing was asked twice"
    assert names(killed) == names(whole)
    for path in sample_files(whole):
        assert stable(read_samples(killed / path.name)) == stable(read_samples(path))
    assert (killed / "summary.csv").read_text() == (whole / "summary.csv").read_text()


def stable(samples: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Rounds what another order of a batch may change in its last digits."""
    rounded = [[[round(r[0][0], 3), *r[0][1:]] for r in s["resps"]] for s in samples]
    return [{**s, "resps": r, "filtered_resps": None} for s, r in zip(samples, rounded, strict=True)]


def test_texts_are_left_out_if_asked(run_demo: Cli, tmp_path: Path) -> None:
    run_demo("--task.languages", "yor", "--task.prompts", 1, "--eval.log_samples", "false", "--eval.use_cache=false")
    samples = read_samples(sample_path(run_folder(tmp_path), "afrimmlu_yor_eng_1"))
    assert "doc" not in samples[0] and "arguments" not in samples[0] and samples[0]["acc"] in (0.0, 1.0)
    assert not list(run_folder(tmp_path).glob("answers_*"))


@pytest.mark.parametrize("kind", ["T5", "MT5"])
@pytest.mark.parametrize("task", ["afrimmlu", "afrixnli", "belebele"])
def test_an_encoder_decoder_runs(run_demo: Cli, tmp_path: Path, kind: str, task: str) -> None:
    """Likelihoods are those of the labels, given the whole prompt to the encoder."""
    import torch
    from transformers import AutoModelForSeq2SeqLM, AutoTokenizer

    folder = tiny_t5(tmp_path / "model", kind)
    some = ("--task.task_name", task, "--task.languages", "yor", "--task.prompts", 1, "--eval.limit", 2)
    done = run_demo("--model.model_name", folder, *some, "--eval.num_fewshot", 1)
    assert done.code == 0 and "WARNING" not in done.err
    model, tokenizer = AutoModelForSeq2SeqLM.from_pretrained(folder).eval(), AutoTokenizer.from_pretrained(folder)
    for sample in read_samples(sample_files(run_folder(tmp_path))[0]):
        for (context, continuation), ((value, _, tokens),) in zip(sample["arguments"], sample["resps"], strict=True):
            labels = tokenizer(continuation, return_tensors="pt", add_special_tokens=False).input_ids
            with torch.no_grad():
                logits = model(**tokenizer(context, return_tensors="pt"), labels=labels).logits.double()
            chosen = logits.log_softmax(-1)[0].gather(1, labels[0][:, None])
            assert value == pytest.approx(float(chosen.sum()), rel=1e-5, abs=1e-4) and tokens == labels.shape[1]


def test_a_chat_model_gets_turns_and_the_system_text(run_demo: Cli, tmp_path: Path) -> None:
    model = tiny_llama(tmp_path / "chat", chat_template=CHAT)
    done = run_demo(
        "--model.model_name", model, "--model.chat_template", "--task.languages", "swa", "--task.prompts", 3,
        "--task.prompt_language", "native", "--eval.num_fewshot", 1, "--eval.limit", 1,
    )  # fmt: skip
    assert done.code == 0, done.err
    ((sample,),) = (read_samples(p) for p in sample_files(run_folder(tmp_path)))
    text, continuation = sample["arguments"][0]
    assert text.startswith("<user>Unajibu maswali ya kuchagua jibu. Jibu kwa chaguo sahihi pekee.\n\nMada: ")
    assert text.count("<user>") == 2 and text.count("<assistant>") == 2 and text.endswith("Jibu:\n<assistant>")
    assert not continuation.startswith(" ")


def test_no_warning_on_stderr(run_demo: Cli) -> None:
    done = run_demo(
        "--task.task_name", "afrimmlu,afrixnli", "--task.languages", "yor", "--task.prompts", 1, "--eval.num_fewshot", 3
    )
    assert done.code == 0
    assert not [line for line in done.err.splitlines() if "warn" in line.lower()]
    assert "[1/2] afrimmlu Yoruba, English prompt 1" in done.err


def test_a_new_language_needs_one_line_and_no_code(run_demo: Cli, tmp_path: Path, small_tasks: Path) -> None:
    """Tswana is dropped into a data folder, and one line into a copy of the task file."""
    import shutil

    tasks, data = tmp_path / "tasks", tmp_path / "data/masakhane/afrimmlu/data/tsn"
    shutil.copytree(small_tasks, tasks)
    task = tasks / "afrimmlu/task.yaml"
    task.write_text(task.read_text().replace("  zul: zul\n", "  zul: zul\n  tsn: tsn\n", 1))
    data.mkdir(parents=True)
    (data / "test.tsv").write_text(
        "question\tchoices\tanswer\tsubject\nPotso?\t['a', 'b', 'c', 'd']\tB\tglobal_facts\n"
    )
    done = run_demo("--task.folder", tasks, "--data.source", tmp_path / "data", "--task.prompts", 1)
    assert done.code == 0 and "Tswana" in done.out, done.err
