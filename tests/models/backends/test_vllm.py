"""The vllm backend without a GPU: what it is given, and a run with a stand-in that has its attributes and no others."""

import importlib.util
from pathlib import Path
from typing import Any

import pytest
import yaml
from lm_eval.api.model import LM
from tests.conftest import ROOT, Cli, csv_rows, only_samples, read_config
from tests.models.tiny import CHAT, tiny_llama

from afrieval._util.errors import UserError
from afrieval.config.settings import EvalConfig, ModelConfig
from afrieval.models.backend_args import signature
from afrieval.models.backends.vllm import VLLMBackend, check_gpus
from afrieval.models.base import LanguageModel
from afrieval.models.registry import load_model

ARGUMENTS = VLLMBackend("vllm").arguments


def test_arguments() -> None:
    more = {"tensor_parallel_size": 2, "gpu_memory_utilization": 0.9, "max_model_len": 8192, "seed": 1}
    config = ModelConfig(model_name="o/n", model_type="vllm", dtype="bfloat16", revision="v2", backend_args=more)
    assert ARGUMENTS(config, EvalConfig(batch_size=32, torch_random_seed=7)) == {
        "pretrained": "o/n", "revision": "v2", "dtype": "bfloat16", "trust_remote_code": False, "add_bos_token": None,
        "seed": 1, "tensor_parallel_size": 2, "gpu_memory_utilization": 0.9, "max_model_len": 8192,
    }  # fmt: skip
    assert ARGUMENTS(ModelConfig(model_name="o/n"), EvalConfig(torch_random_seed=7))["seed"] == 7


SHIPPED = sorted((ROOT / "configs/models").glob("*_vllm.yaml"))


@pytest.mark.parametrize("path", SHIPPED, ids=lambda p: p.name)
def test_shipped_files_give_arguments_that_the_backend_has(path: Path) -> None:
    config = read_config(
        ["--model-config-yaml", str(path), "--task.task_name", "afrimmlu"], command="run", needs_model=True
    )
    assert config.model.model_type == "vllm"
    given, known = ARGUMENTS(config.model, config.eval), signature("models/vllm_causallms.py", "VLLM")
    assert given.keys() - known.keys() == {"gpu_memory_utilization"}, "the one that goes on to vllm.LLM"


@pytest.mark.parametrize(
    ("tensor", "data", "present", "refused"),
    [
        (2, 2, 3, True), (2, 2, 4, False), (4, 1, 2, True), (4, 1, 4, False), (1, 2, 1, True), ("2", "1", 1, True),
        (1, 1, 0, False), (2, 1, 0, True), (None, None, 1, False),
    ],
)  # fmt: skip
def test_more_gpus_than_there_are(
    monkeypatch: pytest.MonkeyPatch, tensor: Any, data: Any, present: int, refused: bool
) -> None:
    monkeypatch.setattr("torch.cuda.device_count", lambda: present)
    monkeypatch.setattr("afrieval.models.backends.vllm.find_spec", lambda name: object())
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    given = {"tensor_parallel_size": tensor, "data_parallel_size": data}
    arguments = {name: value for name, value in given.items() if value is not None}
    if not refused:
        check_gpus(arguments)
        return
    with pytest.raises(UserError) as caught:
        check_gpus(arguments)
    assert f"is {int(tensor) * int(data)} GPUs, but there are only {present}" in caught.value.message
    assert "tensor_parallel_size" in caught.value.hint and "CUDA_VISIBLE_DEVICES" in caught.value.hint
    monkeypatch.setenv("RAY_ADDRESS", "auto")
    check_gpus(arguments)  # a cluster has GPUs that this machine does not see


def test_copies_of_a_model_need_ray(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("torch.cuda.device_count", lambda: 8)
    monkeypatch.setattr("afrieval.models.backends.vllm.find_spec", lambda name: None)
    check_gpus({"tensor_parallel_size": 8})
    with pytest.raises(UserError) as caught:
        check_gpus({"data_parallel_size": 2})
    assert "needs the package ray" in caught.value.message and "pip install ray" in caught.value.hint


def test_too_few_gpus_are_an_error_before_the_model_is_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    def load(**arguments: Any) -> None:
        raise AssertionError("the model was loaded")

    monkeypatch.setattr("afrieval.models.backends.vllm.backend", lambda: load)
    monkeypatch.setattr("torch.cuda.device_count", lambda: 2)
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    config = ModelConfig("o/n", "vllm", backend_args={"tensor_parallel_size": 4})
    with pytest.raises(UserError, match="is 4 GPUs, but there are only 2"):
        load_model(config, EvalConfig())


@pytest.mark.parametrize(
    ("options", "hint"),
    [({"device": "cuda:1"}, "CUDA_VISIBLE_DEVICES"), ({"parallelize": True}, "tensor_parallel_size")],
)
def test_settings_that_vllm_has_under_another_name(options: dict[str, Any], hint: str) -> None:
    with pytest.raises(UserError) as caught:
        ARGUMENTS(ModelConfig(model_name="o/n", **options), EvalConfig())
    assert hint in caught.value.hint


@pytest.mark.skipif(importlib.util.find_spec("vllm") is not None, reason="vllm is installed")
def test_without_the_package_the_extra_is_named(run_demo: Cli) -> None:
    refused = run_demo("--model.model_type", "vllm", "--model.model_name", "o/n")
    assert refused.code == 2 and "needs the package vllm" in refused.err and "vllm>=0.33,<0.34" in refused.err


class StandIn(LanguageModel, LM):
    """Answers as the hf backend does, but is to the outside what vllm is: pairs without counts, no parameters."""

    def __init__(self, pretrained: str, batch_size: Any, **kwargs: Any):
        super().__init__()
        hf: Any = load_model(ModelConfig(model_name=pretrained), EvalConfig())
        self._hf = hf
        self._config, self.model, self.tokenizer = hf.config, object(), self._hf.tokenizer
        self.batch_size, self.max_length, self.tok_encode = batch_size, self._hf.max_length, self._hf.tok_encode

    def apply_chat_template(self, chat_history: list[dict[str, str]], add_generation_prompt: bool = True) -> str:
        return str(self._hf.apply_chat_template(chat_history, add_generation_prompt))

    @property
    def tokenizer_name(self) -> str:
        return "tiny"

    def loglikelihood(self, requests: list[Any], disable_tqdm: bool = False) -> list[Any]:
        return [answer[:2] for answer in self._hf.loglikelihood(requests, disable_tqdm=True)]

    def loglikelihood_rolling(self, requests: list[Any], disable_tqdm: bool = False) -> list[Any]:
        raise NotImplementedError

    def generate_until(self, requests: list[Any], disable_tqdm: bool = False) -> list[str]:
        return list(self._hf.generate_until(requests, disable_tqdm=True))


@pytest.mark.parametrize("words", [(), ("--task.answer_form", "generate", "--model.chat_template")])
def test_a_run_scores_as_with_hf(
    run_demo: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    monkeypatch.setattr("afrieval.models.backends.vllm.backend", lambda: StandIn)
    model = tiny_llama(tmp_path / "model", chat_template=CHAT)
    some = ("--model.model_name", model, "--task.languages", "yor", "--task.prompts", 1, "--eval.limit", 3, *words)
    shown = {}
    for backend in ("hf", "vllm"):
        run_demo(*some, "--model.model_type", backend, "--run_dir", tmp_path / backend).ok()
        shown[backend] = [(s["arguments"], s["acc"]) for s in only_samples(tmp_path / backend)]
    assert shown["hf"] == shown["vllm"]
    (row,) = csv_rows(tmp_path / "vllm/summary.csv")
    assert "acc_tokens" not in row, "vllm does not tell how many tokens it scored"
    visit = yaml.safe_load((tmp_path / "vllm/run.yaml").read_text())["visits"][0]
    assert visit["dtype"] == "auto" and visit["batch_size"] == "auto"
