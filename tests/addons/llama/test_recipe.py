"""The recipe's file: every key is honoured, what cannot be right is refused, and lm_eval gives the same scores."""

import json
import logging
import shlex
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.conftest import ROOT, Cli
from tests.harness_yaml import lm_eval_without_its_tasks

from afrieval._util.errors import UserError
from afrieval.addons.llama.llama_command import LOGGERS, Recipe, lm_eval_command, read_recipe, settings
from afrieval.config.files import run_config
from afrieval.config.settings import RunConfig
from afrieval.results.run_files import sample_files
from afrieval.results.samples import read_samples

FILE = ROOT / "configs/llama/eval_config.yaml"
DEMO = {"model_name": "demo", "model_type": "hf", "max_model_len": 20000, "batch_size": 4}
PRINT = "--print-command"
SAMPLES = ("--data.source", "samples", "--eval.max_gen_toks", 8)


def write(folder: Path, **keys: object) -> Path:
    path = folder / "eval_config.yaml"
    given = {"work_dir": str(folder / "work"), "output_path": str(folder / "out"), **keys}
    path.write_text(yaml.safe_dump(given), encoding="utf-8")
    return path


def config_of(folder: Path, **keys: object) -> RunConfig:
    return run_config(settings(read_recipe(write(folder, **keys))), needs_model=True)


def test_the_file_has_all_keys_of_the_recipe() -> None:
    keys = yaml.safe_load(FILE.read_text(encoding="utf-8"))
    of_recipe = {
        *("model_name", "evals_dataset", "tasks", "tensor_parallel_size", "data_parallel_size", "max_model_len"),
        *("gpu_memory_utilization", "batch_size", "output_path", "limit", "verbosity", "log_samples", "work_dir"),
        *("template_dir", "show_config"),
    }
    assert set(keys) == {f.name for f in fields(Recipe)} == of_recipe | {"model_type"}
    assert asdict(read_recipe(FILE)) == keys


@pytest.mark.parametrize(
    ("key", "value", "found"),
    [
        ("model_name", "me/llama", lambda c: c.model.model_name == "me/llama"),
        ("evals_dataset", "meta-llama/Llama-3.1-8B-evals", lambda c: str(c.task.evals_dataset).endswith("8B-evals")),
        ("tasks", "meta_math, meta_gpqa", lambda c: c.task.names == ["meta_math", "meta_gpqa"]),
        ("tensor_parallel_size", 2, lambda c: c.model.backend_args["tensor_parallel_size"] == 2),
        ("data_parallel_size", 3, lambda c: c.model.backend_args["data_parallel_size"] == 3),
        ("gpu_memory_utilization", 0.5, lambda c: c.model.backend_args["gpu_memory_utilization"] == 0.5),
        ("max_model_len", 9000, lambda c: c.model.backend_args["max_model_len"] == 9000),
        ("batch_size", 7, lambda c: c.eval.batch_size == 7),
        ("batch_size", "auto:4", lambda c: c.eval.batch_size == "auto:4"),
        ("limit", 5, lambda c: c.eval.limit == 5),
        ("log_samples", False, lambda c: c.eval.log_samples is False),
        ("output_path", "results", lambda c: c.run_dir == "results/meta-llama__Llama-3.2-3B-Instruct"),
        ("template_dir", "mine", lambda c: c.task.folder == "mine"),
        ("model_type", "hf", lambda c: c.model.model_type == "hf" and c.model.backend_args == {"max_length": 8192}),
    ],
)
def test_each_key_is_honoured(tmp_path: Path, key: str, value: object, found: Any) -> None:
    assert found(config_of(tmp_path, **{key: value}))
    assert not found(config_of(tmp_path, output_path="elsewhere") if key == "output_path" else config_of(tmp_path))


def test_what_the_recipe_fixes(tmp_path: Path) -> None:
    config = config_of(tmp_path)
    assert config.model.add_bos_token is True and config.model.dtype == "auto" and not config.model.chat_template
    assert config.model.backend_args.keys() == {
        *("tensor_parallel_size", "data_parallel_size", "gpu_memory_utilization", "max_model_len")
    }
    seeds = {getattr(config.eval, f"{n}random_seed") for n in ("", "numpy_", "torch_", "fewshot_")}
    assert seeds == {42} and config.eval.num_fewshot is None


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"limit": 0.5}, "limit must be a whole number, not 0.5"),
        ({"batch_size": 0}, "batch_size must be 1 or more or text, not 0"),
        ({"verbosity": "LOUD"}, "verbosity must be CRITICAL"),
        ({"model_type": "hf", "tensor_parallel_size": 2}, "tensor_parallel_size is 2, which only vllm supports"),
        ({"taks": "meta_math"}, "unknown key 'taks'"),
    ],
)
def test_values_that_make_no_sense(tmp_path: Path, keys: dict[str, object], message: str) -> None:
    with pytest.raises(UserError, match=message.replace("(", r"\(")):
        read_recipe(write(tmp_path, **keys))


def test_a_recipe_runs_on_two_backends(cli: Cli, tmp_path: Path) -> None:
    refused = cli("llama", write(tmp_path), "--model.model_type", "local-completions")
    assert refused.code == 2 and "is not supported for recipes" in refused.err and "afrieval run" in refused.err


@pytest.mark.parametrize(
    ("keys", "message", "hint"),
    [
        ({"model_name": "meta-llama/Llama-3.2-90B-Instruct"}, "no evaluation data", "use a model with published data"),
        ({"tasks": "meta_math_hard"}, "a task of the Llama 3.1 instruct evaluations", "meta_instruct"),
        ({"tasks": "meta_instrct"}, "unknown task 'meta_instrct'", "did you mean meta_instruct?"),
        ({"max_model_len": 512, "tasks": "meta_math"}, "max_model_len is 512", "more than 512"),
        ({"template_dir": "nowhere"}, "contains no tasks", "TASK/task.yaml"),
    ],
)
def test_combinations_that_cannot_be_right(
    cli: Cli, tmp_path: Path, keys: dict[str, object], message: str, hint: str
) -> None:
    done = cli("llama", write(tmp_path, **keys), "--data.source", "samples", *([PRINT] if "tasks" in keys else []))
    assert done.code == 2 and message in done.err and hint in done.err.partition("hint:")[2], done.err
    assert not (tmp_path / "work").exists() and not (tmp_path / "out").exists()


def test_more_gpus_than_there_are(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("torch.cuda.device_count", lambda: 4)
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    for copies, code in ((2, 2), (1, 0)):
        monkeypatch.setattr("afrieval.models.backends.vllm.find_spec", lambda name: name)
        done = cli(
            "llama", write(tmp_path, tasks="meta_gpqa", tensor_parallel_size=4, data_parallel_size=copies), PRINT
        )
        assert done.code == code, done.err
        assert code == 0 or ("is 8 GPUs, but there are only 4" in done.err and "lower" in done.err)


def test_the_command_in_full(cli: Cli, tmp_path: Path) -> None:
    keys = {"limit": 3, "show_config": True, "verbosity": "DEBUG", "batch_size": "auto:2", "max_model_len": 9000}
    done = cli("llama", write(tmp_path, tasks="meta_math,meta_gpqa", **keys), PRINT).ok()
    assert done.out.startswith("LMEVAL_LOG_LEVEL=DEBUG lm_eval --model vllm ")
    words = shlex.split(done.out)
    given = {word: words[i + 1] for i, word in enumerate(words[:-1]) if word.startswith("--")}
    assert dict(part.split("=") for part in given["--model_args"].split(",")) == {
        "pretrained": "meta-llama/Llama-3.2-3B-Instruct",
        "revision": "main",
        "dtype": "auto",
        "add_bos_token": "True",
        "trust_remote_code": "False",
        "seed": "42",
        "tensor_parallel_size": "1",
        "data_parallel_size": "1",
        "max_model_len": "9000",
        "gpu_memory_utilization": "0.9",
    }
    assert given["--tasks"] == "meta_math,meta_gpqa" and given["--include_path"] == str(tmp_path / "work")
    assert (given["--batch_size"], given["--limit"], given["--seed"]) == ("auto:2", "3", "42,42,42,42")
    assert {"--log_samples", "--show_config"} <= set(words)
    assert not {"--apply_chat_template", "--num_fewshot"} & set(words)
    assert {path.stem for path in (tmp_path / "work").iterdir()} == {"meta_math", "meta_gpqa"}


def test_a_work_folder_is_written_anew_and_other_files_are_not_touched(cli: Cli, tmp_path: Path) -> None:
    for tasks in ("meta_gpqa", "meta_instruct"):
        assert cli("llama", write(tmp_path, tasks=tasks), PRINT).code == 0
    assert {path.stem for path in (tmp_path / "work").iterdir()} == {
        *("meta_instruct", "meta_gpqa", "meta_math", "meta_mmlu_instruct")
    }
    (tmp_path / "work/notes.txt").write_text("mine")
    done = cli("llama", write(tmp_path, tasks="meta_gpqa"), PRINT)
    assert done.code == 2 and "notes.txt" in done.err and (tmp_path / "work/meta_math.yaml").exists()


def test_work_folders_that_cannot_be_used(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "binary").mkdir()
    (tmp_path / "binary/x.yaml").write_bytes(b"\xff\xfe")
    (tmp_path / "folder/y.yaml").mkdir(parents=True)
    for name, message in (("binary", "x.yaml"), ("folder", "y.yaml"), ("/proc/new", "/proc/new cannot be written")):
        done = cli("llama", write(tmp_path, tasks="meta_gpqa", work_dir=str(tmp_path / name)), PRINT)
        assert done.code == 2 and message in done.err, done.err


def test_the_command_names_folders_that_are_there(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done = cli("llama", write(tmp_path), "--data.source", "nowhere", PRINT)
    assert done.code == 2 and "a folder, not 'nowhere'" in done.err
    (tmp_path / "model").mkdir()
    monkeypatch.chdir(tmp_path)
    path = write(tmp_path, model_name="model", evals_dataset="meta-llama/Llama-3.1-8B-Instruct-evals")
    out = cli("llama", PRINT, path).out
    assert f"pretrained={tmp_path / 'model'}," in out  # wherever lm_eval is started
    assert f"--output_path {tmp_path / 'out/model-lm_eval'} " in out  # beside the run, which has files of like names


def test_options_and_files_beat_the_recipe(cli: Cli, tmp_path: Path) -> None:
    model = tmp_path / "model.yaml"
    model.write_text("model_name: meta-llama/Llama-3.2-1B-Instruct\nbackend_args: {max_model_len: 7000}\n")
    words = ("--model-config-yaml", model, "--model.backend_args.gpu_memory_utilization", 0.5)
    done = cli("llama", write(tmp_path, tasks="meta_gpqa"), PRINT, *words)
    assert done.code == 0 and "pretrained=meta-llama/Llama-3.2-1B-Instruct" in done.out, done.err
    assert "max_model_len=7000" in done.out and "gpu_memory_utilization=0.5" in done.out


def test_verbosity_reaches_the_log_and_the_config_is_printed_first(cli: Cli, tmp_path: Path) -> None:
    before = [(logging.getLogger(name), logging.getLogger(name).level) for name in LOGGERS]
    shown = {"evals_dataset": "meta-llama/Llama-3.1-8B-evals", "verbosity": "ERROR", "show_config": True}
    try:
        done = cli("llama", write(tmp_path, **DEMO, **shown, tasks="meta_bbh"), *SAMPLES, "--eval.limit", 1)
        assert {logger.level for logger, _ in before} == {logging.ERROR}
    finally:
        for logger, level in before:
            logger.setLevel(level)
    assert done.code == 0, done.err
    assert yaml.safe_load(done.out.partition("\n\n")[0])["task"]["task_name"] == "meta_bbh"


SLOW = [pytest.param(evals, marks=pytest.mark.slow) for evals in ("Llama-3.1-8B", "Llama-3.2-3B-Instruct")]


@pytest.mark.parametrize("evals", ["Llama-3.1-8B-Instruct", "Llama-3.2-3B", *SLOW])
def test_lm_eval_gives_the_same_answers_and_scores(cli: Cli, tmp_path: Path, evals: str) -> None:
    """The first row of all ten tasks, by the command that is printed, in a process of its own."""
    group = "meta_instruct" if evals.endswith("Instruct") else "meta_pretrain"
    path = write(tmp_path, **DEMO, evals_dataset=f"meta-llama/{evals}-evals", tasks=group, limit=1)
    done = cli("llama", path, *SAMPLES).ok()
    done = cli("llama", path, *SAMPLES, "--model.device", "cpu", PRINT).ok()
    program, *words = [word for word in shlex.split(done.out) if "=" not in word or not word.startswith("LMEVAL")]
    assert program == "lm_eval"
    lm_eval_without_its_tasks(*words, cwd=tmp_path)
    ours = {p.stem.removeprefix("samples_").removesuffix("_eng_eng_1"): p for p in sample_files(tmp_path / "out/demo")}
    assert set(ours) == {p.stem for p in (tmp_path / "work").iterdir()} - {group}
    for task, samples_file in ours.items():
        (theirs_file,) = (tmp_path / "out/demo-lm_eval").glob(f"*/samples_{task}_2*.jsonl")  # a date
        theirs = {s["doc"]["id"]: s for s in map(json.loads, theirs_file.read_text(encoding="utf-8").splitlines())}
        mine = {s["doc"]["id"]: s for s in read_samples(samples_file) if s["metrics"]}
        assert mine.keys() <= theirs.keys() and mine  # ours counts rows without an answer, too
        for number, sample in mine.items():
            told = [m for m in sample["metrics"] if m != "acc_tokens"]  # the harness' model does not count tokens
            assert told == theirs[number]["metrics"]
            assert [sample[m] for m in told] == [theirs[number][m] for m in told]
            assert _said(sample) == pytest.approx(_said(theirs[number]), abs=1e-4)


def _said(sample: dict[str, Any]) -> list[Any]:
    """Returns what the model said: texts, or log-likelihoods."""
    said = [response[0] for response in sample["resps"]]
    return [float(s[0]) for s in said] if isinstance(said[0], list) else said


def test_a_model_by_its_folder(tmp_path: Path) -> None:
    folder = tmp_path / "Llama-3.2-3B-Instruct"
    folder.mkdir()
    config = config_of(tmp_path, model_name=str(folder), output_path="out")
    assert config.run_dir == "out/Llama-3.2-3B-Instruct"
    assert f"pretrained={folder}" in lm_eval_command(config, read_recipe(write(tmp_path)), tmp_path)
