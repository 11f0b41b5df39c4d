"""Any backend of the harness runs by its name; the harness' dummy shows it."""

from pathlib import Path

import pytest
import yaml
from tests.conftest import Cli

from afrieval.config.settings import EvalConfig, ModelConfig
from afrieval.models.backends.harness import other_arguments
from afrieval.models.load import load_model
from afrieval.results.run_files import read_run

DUMMY = ("--model.model_type", "dummy", "--task.languages", "yor,eng", "--task.prompts", 1)


@pytest.mark.parametrize(
    "words",
    [
        ("--task.task_name", "afrixnli", "--eval.num_fewshot", 2),
        ("--task.task_name", "afrimmlu", "--task.answer_form", "letter", "--task.prompt_language", "both"),
        ("--task.task_name", "afrimgsm"),
    ],
)
def test_the_dummy_runs_end_to_end(run_demo: Cli, tmp_path: Path, words: tuple[object, ...]) -> None:
    done = run_demo(*DUMMY, *words)
    assert done.code == 0 and "Yoruba" in done.out, done.err
    record = read_run(tmp_path / "run")
    assert record["identity"]["model"]["model_type"] == "dummy" and record["visits"][0]["max_length"] is None
    again = run_demo(*DUMMY, *words)
    assert again.code == 0 and again.out == done.out


def test_what_is_assumed_of_lengths_is_said(run_demo: Cli) -> None:
    done = run_demo(*DUMMY, "--task.task_name", "afrimgsm")
    assert "the tokenizer of dummy is unknown: limits of answers assume one token per byte" in done.err


def test_names_are_models(tmp_path: Path) -> None:
    first, second = (load_model(ModelConfig(model_name=name, model_type="dummy"), EvalConfig()) for name in ("a", "b"))
    assert first.fingerprint() != second.fingerprint()
    assert (
        first.fingerprint() == load_model(ModelConfig(model_name="a", model_type="dummy"), EvalConfig()).fingerprint()
    )


@pytest.mark.parametrize(
    ("words", "message", "hint"),
    [
        (("--model.dtype", "float32"), "model.dtype ('float32') is not supported by dummy", "remove it"),
        (("--model.device", "cpu"), "model.device ('cpu') is not supported by dummy", "remove it"),
        (("--model.engine", "tree"), "tree", "hf"),
        (("--model.backend_args.api_key", "sk-1"), "backend_args.api_key may be a secret key", "in the environment"),
        (("--model.model_type", "dumy"), "unknown backend 'dumy'", "did you mean dummy?"),
    ],
)
def test_what_a_backend_does_not_take(run_demo: Cli, words: tuple[str, ...], message: str, hint: str) -> None:
    refused = run_demo(*DUMMY, "--task.task_name", "afrixnli", *words)
    assert refused.code == 2 and message in refused.err and hint in refused.err and "sk-1" not in refused.err


def test_settings_and_arguments_reach_the_backend() -> None:
    config = ModelConfig(
        model_name="o/n", model_type="mamba_ssm", dtype="bfloat16", backend_args={"trust_remote_code": True}
    )
    assert other_arguments(config, EvalConfig()) == {
        "pretrained": "o/n", "dtype": "bfloat16", "trust_remote_code": True, "batch_size": 1,
    }  # fmt: skip
    served = ModelConfig(model_name="o/n", model_type="local-completions", add_bos_token=True)
    assert other_arguments(served, EvalConfig(batch_size=4, torch_random_seed=7)) == {
        "model": "o/n", "add_bos_token": True, "batch_size": 4, "seed": 7,
    }  # fmt: skip


def test_a_chat_template_that_cannot_be_fetched(run_demo: Cli) -> None:
    """The dummy writes chats with a tokenizer of the hub."""
    refused = run_demo(*DUMMY, "--task.task_name", "afrimgsm", "--model.chat_template")
    assert refused.code == 2 and "cannot be" in refused.err and "Traceback" not in refused.err


def test_a_model_file_may_name_any_backend(run_demo: Cli, tmp_path: Path) -> None:
    path = tmp_path / "model.yaml"
    path.write_text(yaml.safe_dump({"model_name": "served", "model_type": "dummy"}))
    assert run_demo("--model-config-yaml", path, "--task.languages", "yor", "--task.prompts", 1).code == 0
