"""Names of models on the hub: which are asked for, and what its answers mean."""

import importlib.util
from pathlib import Path
from types import ModuleType, SimpleNamespace
from unittest.mock import Mock

import pytest
from huggingface_hub.errors import GatedRepoError, RepositoryNotFoundError
from tests.conftest import ROOT


def script(name: str) -> ModuleType:
    """Returns a file of scripts/ as a module."""
    spec = importlib.util.spec_from_file_location(name, ROOT / f"scripts/{name}.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


models_exist = script("models_exist")


class Hub:
    """A hub that has all models but some, by what happens to them."""

    def __init__(self, **answers: str) -> None:
        self.answers, self.asked = answers, list[str]()

    def model_info(self, repo_id: str) -> SimpleNamespace:
        self.asked.append(repo_id)
        answer = self.answers.get(repo_id.rpartition("/")[2].replace("-", "_"), "")
        if answer in ("gone", "refused"):
            kind = RepositoryNotFoundError if answer == "gone" else GatedRepoError
            raise kind("no", response=Mock(headers={}))
        return SimpleNamespace(id=answer or repo_id, gated="manual" if answer == "" and "Llama" in repo_id else False)


def test_every_name_of_the_hub_is_asked_for_and_no_other(capsys: pytest.CaptureFixture[str]) -> None:
    hub = Hub(aya_101="CohereLabs/aya-101", tiny_aya_base="refused")
    assert models_exist.main(hub) == 0
    assert {"Qwen/Qwen3-8B", "openai/gpt-oss-20b", "meta-llama/Llama-2-7b-hf"} < {*hub.asked}  # the last is a tokenizer
    assert not {"gpt-4o-2024-08-06", "demo", "gemma3:4b", "meta-llama/llama-3.1-70b-instruct"} & {*hub.asked}
    assert len(hub.asked) == len({*hub.asked})
    out = " ".join(capsys.readouterr().out.split())
    assert "CohereForAI/aya-101 now CohereLabs/aya-101 aya_101.yaml" in out
    assert "CohereLabs/tiny-aya-base gated tiny_aya_base.yaml" in out
    assert "meta-llama/Llama-3.1-8B gated llama_3.1_8b_server.yaml, llama_3.1_8b_vllm.yaml" in out


def test_a_model_that_is_gone_fails(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("model_name: org/model-a\n")
    (tmp_path / "b.yaml").write_text("model_name: org/model-b\n")
    assert models_exist.main(Hub(model_b="gone"), tmp_path) == 1
    assert capsys.readouterr().out.splitlines()[-1] == "2 names, 1 gone: org/model-b"
