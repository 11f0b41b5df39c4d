"""A backend is one entry of the registry: nothing else asks which one a model has."""

import re
from pathlib import Path
from typing import Any

import pytest
from lm_eval.api.model import LM
from tests.conftest import ROOT

import afrieval
from afrieval._util.errors import UserError
from afrieval.config.settings import EvalConfig, ModelConfig
from afrieval.models.backend import Backend
from afrieval.models.base import Capabilities, NamedModel
from afrieval.models.processes import Processes
from afrieval.models.registry import BACKENDS
from afrieval.results.run_folder import RunFolder

CAN = Capabilities(rolling=False, generate=False, chat=None, count_tokens=False)


class Toy(NamedModel, LM):
    can = CAN
    max_length = 1000
    names = ("toy",)

    def loglikelihood(self, requests: list[Any], disable_tqdm: bool = False) -> list[tuple[float, bool]]:
        return [(float(len(request.args[1])) - 1000, False) for request in requests]

    def loglikelihood_rolling(self, requests: list[Any], disable_tqdm: bool = False) -> list[Any]:
        raise NotImplementedError

    def generate_until(self, requests: list[Any], disable_tqdm: bool = False) -> list[str]:
        raise NotImplementedError


class ToyBackend(Backend):
    def load(self, config: ModelConfig, evaluation: EvalConfig, processes: Processes) -> Toy:
        return Toy()

    def capabilities(self, config: ModelConfig) -> Capabilities:
        return CAN


ASKS = re.compile(r"\bmodel_type\s*(==|!=|in|not in)\s*['\"(\[]|\bis_api\b|\bOURS\b|\bRECORDED\b")


def test_a_new_backend_is_one_entry_and_a_module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(BACKENDS, "toy", ToyBackend)  # type: ignore[arg-type]
    model = ModelConfig(model_name="any", model_type="toy")
    asked = {"languages": ["yor"], "prompts": 1, "data_source": "samples", "run_dir": tmp_path / "run"}
    afrieval.evaluate(model, "afrixnli", **asked)  # type: ignore[arg-type]
    samples = RunFolder(tmp_path / "run").samples("afrixnli_yor_eng_1")
    for sample in samples:
        lengths = [len(arguments[1]) for arguments in sample["arguments"]]
        assert [float(response[0][0]) for response in sample["resps"]] == [length - 1000.0 for length in lengths]
    with pytest.raises(UserError, match=r"device .* is not supported by toy"):
        afrieval.evaluate(ModelConfig(model_name="any", model_type="toy", device="cpu"), "afrixnli", **asked)  # type: ignore[arg-type]


def test_no_other_module_asks_which_backend_a_model_has() -> None:
    files = (ROOT / "src/afrieval").rglob("*.py")
    found = [(path.name, line) for path in files for line in path.read_text().splitlines() if ASKS.search(line)]
    assert not found
