"""What a loaded model cannot do is found out at once: no answer of such a model is scored."""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from tests.models.damage import changed, written
from tests.models.shapes import DECODERS, decoder, encoder_decoder, loaded
from tests.models.test_checkpoint import rewritten
from tests.models.test_folder import load, refused
from tests.models.tiny import tiny_llama

from afrieval._util.errors import UserError
from afrieval.models.checks import try_model
from afrieval.models.demo import byte_tokenizer

NAN = float("nan")


def asked(n: int, **options: Any) -> list[Any]:
    return [SimpleNamespace(args=(f"What is {i}?", {"until": ["x"], "max_gen_toks": 4} | options)) for i in range(n)]


@pytest.mark.parametrize("name", DECODERS)
def test_all_kinds_of_decoders_pass(name: str) -> None:
    try_model(name, loaded(decoder(name)))
    try_model(name, loaded(decoder(name).to(torch.bfloat16)))


def test_encoder_decoders_pass() -> None:
    try_model("T5", loaded(encoder_decoder("T5")))


@pytest.mark.parametrize("value", [NAN, float("inf"), float("-inf")])
def test_weights_that_are_not_numbers(tmp_path: Path, value: float) -> None:
    def spoil(tensors: dict[str, Any]) -> dict[str, Any]:
        tensors["model.embed_tokens.weight"][200, 3] = value  # of a token that the trial does not use
        return tensors

    error = refused(rewritten(tiny_llama(tmp_path / "m"), spoil))
    assert "model.embed_tokens.weight" in error.message and "not numbers" in error.message
    assert "--model.dtype" in error.hint


def test_a_bias_may_forbid_a_token() -> None:
    lm = loaded(decoder("phi"))
    lm.model.lm_head.bias.data[7] = float("-inf")
    try_model("phi", lm)


def test_numbers_that_a_dtype_cannot_hold() -> None:
    lm = loaded(decoder("llama"))
    lm.model.lm_head.weight.data *= 1e38
    lm.model.model.norm.weight.data *= 1e38
    lm.model.lm_head.weight.data[3] *= -1
    with pytest.raises(UserError, match="not a number"):
        try_model("m", lm)


@pytest.mark.parametrize("engine", ["plain", "tree"])
@pytest.mark.parametrize("options", [{}, {"do_sample": True, "temperature": 1.0}])
def test_answers_of_a_model_that_computes_no_numbers(engine: str, options: dict[str, Any]) -> None:
    """Such as one whose numbers overflow in long prompts only; the most probable token would be any."""
    lm = loaded(decoder("llama"))
    lm.engine = engine
    lm.generate_until(asked(8, **options), disable_tqdm=True)
    lm.model.lm_head.weight.data[5, 0] = NAN
    with pytest.raises(UserError, match="not a number"):
        lm.generate_until(asked(8, **options), disable_tqdm=True)


def test_answers_of_an_encoder_decoder_that_computes_no_numbers() -> None:
    lm = loaded(encoder_decoder("T5"))
    lm.generate_until(asked(2), disable_tqdm=True)
    lm.model.lm_head.weight.data[5, 0] = NAN
    with pytest.raises(UserError, match="not a number"):
        lm.generate_until(asked(2), disable_tqdm=True)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_an_encoder_does_not_write_from_left_to_right(tmp_path: Path, dtype: torch.dtype) -> None:
    from transformers import BertConfig, BertForMaskedLM, BertLMHeadModel

    sizes = {"hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2, "num_attention_heads": 2}
    for decodes in (False, True):
        config = BertConfig(vocab_size=259, is_decoder=decodes, initializer_range=0.3, **sizes)
        with torch.random.fork_rng():
            torch.manual_seed(1)
            model: Any = (BertLMHeadModel if decodes else BertForMaskedLM)(config)
        model.to(dtype).save_pretrained(folder := tmp_path / str(decodes))
        byte_tokenizer().save_pretrained(folder)
        if decodes:
            load(folder)
        else:
            assert "does not generate from left to right" in refused(folder).message


def test_more_tokens_than_the_model_knows(tmp_path: Path) -> None:
    folder = tiny_llama(tmp_path / "m")
    for special in (False, True):
        tokenizer = byte_tokenizer()
        tokenizer.add_special_tokens({"pad_token": "extra"}) if special else tokenizer.add_tokens(["extra"])
        tokenizer.save_pretrained(folder)
        error = refused(folder)
        assert "token ids up to 259, but the model has only 259 tokens" in error.message
    error = refused(tiny_llama(tmp_path / "n"), backend_args={"prefix_token_id": 259})
    assert "prefix_token_id must be below 259, not 259" in error.message


@pytest.mark.parametrize("name", DECODERS)
def test_sound_folders_load(tmp_path: Path, name: str) -> None:
    """Qwen2's tokenizer gets a special token that the model does not know, and never writes it."""
    decoder(name).save_pretrained(tmp_path)
    byte_tokenizer().save_pretrained(tmp_path)
    load(tmp_path)


def test_a_tokenizer_that_knows_nothing(tmp_path: Path) -> None:
    folder = tiny_llama(tmp_path / "m")
    content = json.loads((folder / "tokenizer.json").read_text())
    content["model"]["vocab"] = {"<s>": 0, "</s>": 1, "<pad>": 2}
    written("tokenizer.json", json.dumps(content))(folder)
    assert "returns no tokens" in refused(folder).message


@pytest.mark.parametrize(("key", "value"), [("repetition_penalty", "x"), ("num_beams", [])])
def test_settings_that_forbid_to_write(tmp_path: Path, key: str, value: Any) -> None:
    """They are refused where answers are written; likelihoods do not need them."""
    changed("generation_config.json", **{key: value})(folder := tiny_llama(tmp_path / "m"))
    lm = load(folder)
    assert lm.loglikelihood([SimpleNamespace(args=("a", "b"))], disable_tqdm=True)
    with pytest.raises(UserError) as caught:
        lm.generate_until(asked(1), disable_tqdm=True)
    assert str(folder) in caught.value.message and "generation_config.json" in caught.value.hint


def test_no_token_ends_a_text(tmp_path: Path) -> None:
    changed("tokenizer_config.json", eos_token=None)(folder := tiny_llama(tmp_path / "m"))
    lm = load(folder)
    with pytest.raises(UserError, match="no end-of-sequence token"):
        lm.generate_until(asked(1), disable_tqdm=True)
