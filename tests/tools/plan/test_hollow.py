"""A model without weights counts what the real one computes."""

import random
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from tests.models.engine.asked import shared_requests
from tests.models.engine.written import shared_prompts, strange_prompts
from tests.models.shapes import decoder, encoder_decoder

from afrieval.config.settings import EvalConfig, ModelConfig
from afrieval.models.demo import byte_tokenizer
from afrieval.models.load import load_model
from afrieval.tools.plan.hollow import _shared, hollow

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
    empty = hollow(config, evaluation)
    assert empty.engine == real.engine == ("plain" if name == "bloom" else "tree")
    assert counted(empty, prompts) == counted(real, prompts)


def test_what_several_blocks_share() -> None:
    """Counted again as beginnings that occur in rows of more than one block."""
    draw = random.Random(3)
    for _ in range(50):
        rows = [[draw.choice((1, 2)) for _ in range(draw.randint(1, 7))] for _ in range(draw.randint(1, 12))]
        blocks = [draw.randint(0, 3) for _ in rows]
        owners: dict[tuple[int, ...], set[int]] = {}
        for row, block in zip(rows, blocks, strict=True):
            for n in range(1, len(row) + 1):
                owners.setdefault(tuple(row[:n]), set()).add(block)
        expected = sum(len(of) > 1 for of in owners.values())
        assert _shared([np.array(row, dtype=np.int32) for row in rows], blocks) == expected
