"""The vllm backend without a GPU: what it is given, and a run with a stand-in that has its attributes and no others."""

import csv
import importlib.util
from pathlib import Path
from typing import Any

import pytest
import yaml
from lm_eval.api.model import LM
from tests.conftest import Cli
from tests.models.tiny import CHAT, tiny_llama

from afrieval.config import EvalConfig, ModelConfig
from afrieval.errors import UserError
from afrieval.models.chat import KeepsSystemText
from afrieval.models.load import load_model
from afrieval.models.vllm import vllm_arguments
from afrieval.results.files import read_samples, sample_files


def test_arguments() -> None:
    more = {"tensor_parallel_size": 2, "gpu_memory_utilization": 0.9, "max_model_len": 8192, "seed": 1}
    config = ModelConfig(model_name="o/n", model_type="vllm", dtype="bfloat16", revision="v2", backend_args=more)
    assert vllm_arguments(config, EvalConfig(batch_size=32, torch_random_seed=7)) == {
        "pretrained": "o/n",
        "revision": "v2",
        "dtype": "bfloat16",
        "trust_remote_code": False,
        "add_bos_token": None,
        "batch_size": 32,
        "max_batch_size": 64,
        "seed": 1,
        "tensor_parallel_size": 2,
        "gpu_memory_utilization": 0.9,
        "max_model_len": 8192,
    }
    assert vllm_arguments(ModelConfig(model_name="o/n"), EvalConfig(torch_random_seed=7))["seed"] == 7


@pytest.mark.skipif(importlib.util.find_spec("vllm") is None, reason="vllm is not installed")
def test_the_backend_knows_the_arguments() -> None:
    import inspect

    from lm_eval.models.vllm_causallms import VLLM

    assert set(vllm_arguments(ModelConfig(model_name="o/n"), EvalConfig())) <= set(inspect.signature(VLLM).parameters)


@pytest.mark.parametrize(
    ("options", "hint"),
    [({"device": "cuda:1"}, "CUDA_VISIBLE_DEVICES"), ({"parallelize": True}, "tensor_parallel_size")],
)
def test_settings_that_vllm_has_under_another_name(options: dict[str, Any], hint: str) -> None:
    with pytest.raises(UserError) as caught:
        vllm_arguments(ModelConfig(model_name="o/n", **options), EvalConfig())
    assert hint in caught.value.hint


@pytest.mark.skipif(importlib.util.find_spec("vllm") is not None, reason="vllm is installed")
def test_without_the_package_the_extra_is_named(run_demo: Cli) -> None:
    refused = run_demo("--model.model_type", "vllm", "--model.model_name", "o/n")
    assert refused.code == 2 and "needs the package vllm" in refused.err and "vllm>=0.29,<0.31" in refused.err


class StandIn(LM):
    """Answers as the hf backend does, but is to the outside what vllm is: pairs without counts, no parameters."""

    def __init__(self, pretrained: str, batch_size: Any, **kwargs: Any):
        super().__init__()
        self._hf = load_model(ModelConfig(model_name=pretrained), EvalConfig())
        self._config, self.model, self.tokenizer = self._hf.config, object(), self._hf.tokenizer
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


def test_a_template_without_system_turn_gets_the_text_in_the_users(tmp_path: Path) -> None:
    class Silent(KeepsSystemText, StandIn):
        """Leaves system turns out, as the harness' class does."""

    tokenizer = StandIn(str(tiny_llama(tmp_path / "model", chat_template=CHAT)), 1).tokenizer
    silent = "{% for m in messages if m['role'] == 'user' %}<{{ m['content'] }}>{% endfor %}"
    turns = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "2 + 2?"}]
    for template, expected in ((CHAT, "<user>Be brief.\n\n2 + 2?\n<assistant>"), (silent, "<Be brief.\n\n2 + 2?>")):
        lm = Silent(str(tmp_path / "model"), 1)
        lm.tokenizer = lm._hf.tokenizer = tokenizer
        tokenizer.chat_template = template
        assert lm.apply_chat_template(turns) == expected


@pytest.mark.parametrize("words", [(), ("--task.answer_form", "generate", "--model.chat_template")])
def test_a_run_scores_as_with_hf(
    run_demo: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    monkeypatch.setattr("afrieval.models.vllm.backend", lambda: StandIn)
    model = tiny_llama(tmp_path / "model", chat_template=CHAT)
    some = (
        "--model.model_name",
        model,
        "--task.languages",
        "yor",
        "--task.prompts",
        1,
        "--eval.num_fewshot",
        1,
        *words,
    )
    shown = {}
    for backend in ("hf", "vllm"):
        done = run_demo(*some, "--model.model_type", backend, "--run_dir", tmp_path / backend)
        assert done.code == 0, done.err
        (path,) = sample_files(tmp_path / backend)
        shown[backend] = [(s["arguments"], s["acc"]) for s in read_samples(path)]
    assert shown["hf"] == shown["vllm"]
    with (tmp_path / "vllm/summary.csv").open() as file:
        (row,) = csv.DictReader(file)
    assert row["acc_tokens"] == "", "vllm does not tell how many tokens it scored"
    visit = yaml.safe_load((tmp_path / "vllm/run.yaml").read_text())["visits"][0]
    assert visit["dtype"] == "auto" and visit["batch_size"] == "auto"
