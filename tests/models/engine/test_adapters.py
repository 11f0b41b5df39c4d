"""Adapters answer as in PEFT, whatever number of tokens the tokenizer has."""

from pathlib import Path
from typing import Any

import pytest
import torch
from tests.models.shapes import asked, by_hand, decoder

from afrieval.models.backends.hf import HF
from afrieval.models.demo import byte_tokenizer
from afrieval.models.engine.requests import EngineError

TOKENS = len(byte_tokenizer())
PADDED, GROWN = TOKENS + 40, TOKENS + 3
NEW = [f"<new{i}>" for i in range(GROWN - TOKENS)]
BOTH = {"modules_to_save": ["embed_tokens", "lm_head"]}


def base(folder: Path, rows: int, tied: bool = False, seed: int = 0) -> Any:
    model = decoder("llama", seed, vocab_size=rows, tie_word_embeddings=tied)
    model.save_pretrained(folder)
    byte_tokenizer().save_pretrained(folder)
    return type(model).from_pretrained(folder, dtype=torch.float32)


def likelihood(model: Any, tokenizer: Any, context: str, text: str) -> float:
    before, whole = (tokenizer(each)["input_ids"] for each in (context, context + text))
    return by_hand(model, before, whole[len(before) :])


def answer(folder: Path, context: str, text: str, **arguments: Any) -> float:
    lm: Any = HF(pretrained=str(folder), device="cpu", dtype="float32", softmax_dtype="float32", **arguments)
    lm.choose_engine("auto")
    return float(lm.loglikelihood(asked((context, text)))[0][0])


@pytest.mark.parametrize("tied", [False, True])
@pytest.mark.parametrize(
    ("rows", "trained", "settings"),
    [
        (PADDED, PADDED, {}),
        (PADDED, PADDED, {"modules_to_save": ["lm_head"]}),
        (PADDED, PADDED, {"modules_to_save": ["embed_tokens"]}),
        (PADDED, PADDED, {"target_modules": ["q_proj", "embed_tokens"]}),
        (PADDED, TOKENS, BOTH),  # trained after its base was cut
        (TOKENS, GROWN, BOTH),
        (TOKENS, GROWN, {}),  # PEFT saves both by itself
        (TOKENS, GROWN, {"trainable_token_indices": {"embed_tokens": [*range(TOKENS, GROWN)]}}),
    ],
)
def test_as_in_peft(tmp_path: Path, tied: bool, rows: int, trained: int, settings: dict[str, Any]) -> None:
    peft = pytest.importorskip("peft", reason="the package peft is not installed")
    model, tokenizer = base(tmp_path / "base", rows, tied), byte_tokenizer()
    if trained != rows:
        model.resize_token_embeddings(trained)
    if trained == GROWN:
        tokenizer.add_tokens(NEW)
    usual = {"task_type": "CAUSAL_LM", "r": 4, "init_lora_weights": False, "target_modules": ["q_proj", "v_proj"]}
    whole = peft.get_peft_model(model, peft.LoraConfig(**usual | settings)).eval()
    with torch.no_grad():
        for name, weight in whole.named_parameters():
            weight += 0.1 * torch.randn_like(weight) * ("modules_to_save" in name)
    whole.save_pretrained(tmp_path / "adapter")
    tokenizer.save_pretrained(tmp_path / "adapter")
    expected = likelihood(whole, tokenizer, "Kí ni?", f" Abuja{NEW[0]}")
    folder = str(tmp_path / "adapter")
    found = answer(tmp_path / "base", "Kí ni?", f" Abuja{NEW[0]}", peft=folder, tokenizer=folder)
    assert found == pytest.approx(expected, abs=1e-4)


def test_new_tokens_without_weights_are_refused(tmp_path: Path) -> None:
    peft = pytest.importorskip("peft", reason="the package peft is not installed")
    model = base(tmp_path / "base", TOKENS)
    model.resize_token_embeddings(GROWN)
    settings = {"task_type": "CAUSAL_LM", "target_modules": ["q_proj", "embed_tokens"]}
    peft.get_peft_model(model, peft.LoraConfig(**settings)).save_pretrained(tmp_path / "adapter")
    with pytest.raises(EngineError, match="has 262 tokens, 3 more than the model, but lacks weights of them"):
        answer(tmp_path / "base", "x", "y", peft=str(tmp_path / "adapter"))


@pytest.mark.parametrize("tied", [False, True])
def test_differences_of_weights_are_added_once(tmp_path: Path, tied: bool) -> None:
    model, delta = base(tmp_path / "base", PADDED, tied), base(tmp_path / "delta", PADDED, tied, seed=1)
    for name, weight in model.named_parameters():
        weight.data += delta.get_parameter(name).data
    expected = likelihood(model, byte_tokenizer(), "Kí ni?", " Abuja")
    found = answer(tmp_path / "base", "Kí ni?", " Abuja", delta=str(tmp_path / "delta"))
    assert found == pytest.approx(expected, abs=1e-4)
