"""Tokens counted from token ids are those that the model computes."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from tests.models.engine.asked import shared_requests
from tests.models.engine.written import shared_prompts, strange_prompts
from tests.models.shapes import decoder, encoder_decoder

from afrieval.config.settings import EvalConfig, ModelConfig
from afrieval.models.demo import byte_tokenizer
from afrieval.models.load import load_model
from afrieval.tools.plan.tokens import token_counter

MOST = 6


def counted(lm: Any, prompts: list[str]) -> dict[str, dict[str, int]]:
    """Returns what likelihoods and answers take; how long answers are is left out."""
    requests = [SimpleNamespace(args=(prompt, {"until": [], "max_gen_toks": MOST})) for prompt in prompts]
    asked = shared_requests()
    with lm.work.answering("loglikelihood", len(asked), lm.model):
        lm._loglikelihood_tokens(asked, disable_tqdm=True)
    with lm.work.answering("generate_until", len(requests), lm.model):
        lm.generate_until(requests, disable_tqdm=True)
    found: dict[str, dict[str, int]] = lm.work.stored()
    for amount in found.values():
        amount["computed"] -= amount.pop("written", 0)
        del amount["seconds"]
    return found


@pytest.mark.parametrize("prompts", [shared_prompts(), strange_prompts()], ids=["shared", "strange"])
@pytest.mark.parametrize("name", ["llama", "gemma3", "gpt2", "bloom", "MT5"])
def test_architectures(tmp_path: Path, name: str, prompts: list[str]) -> None:
    model = encoder_decoder(name) if name == "MT5" else decoder(name)
    model.save_pretrained(tmp_path)
    byte_tokenizer().save_pretrained(tmp_path)
    config, evaluation = ModelConfig(model_name=str(tmp_path)), EvalConfig(batch_size=4)
    real: Any = load_model(config, evaluation)
    empty = token_counter(config, evaluation)
    assert empty.engine == real.engine == ("plain" if name == "bloom" else "tree")
    assert counted(empty, prompts) == counted(real, prompts)
