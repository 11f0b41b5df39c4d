"""Defective weights, and models that cannot be used, are found before they answer."""

import json
import logging
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file
from tests.models.shapes import DECODERS, decoder, encoder_decoder, loaded
from tests.models.test_folder import changed, load, refused, written
from tests.models.tiny import tiny_llama, tiny_t5

from afrieval._util.errors import UserError
from afrieval.models.checks import check_found, try_model
from afrieval.models.demo import build_demo, byte_tokenizer

Tensors = dict[str, Any]


def rewritten(folder: Path, change: Callable[[Tensors], Tensors]) -> Path:
    """Writes other weights into a folder."""
    path = folder / "model.safetensors"
    tensors = change({name: tensor.clone() for name, tensor in load_file(path).items()})
    save_file(tensors, path, metadata={"format": "pt"})
    return folder


def in_pickle(folder: Path) -> Path:
    torch.save(load_file(folder / "model.safetensors"), folder / "pytorch_model.bin")
    (folder / "model.safetensors").unlink()
    return folder


def test_sizes_are_compared_by_the_library_where_the_files_do_not_tell(tmp_path: Path) -> None:
    folder = in_pickle(tiny_llama(tmp_path / "m"))
    load(folder)
    changed("config.json", intermediate_size=32)(folder)
    error = refused(folder)
    assert "mlp" in error.message and "48" in error.message and "32" in error.message


def test_only_the_damaged_part_of_many_is_named(tmp_path: Path) -> None:
    folder = tiny_llama(tmp_path / "m")
    tensors = load_file(folder / "model.safetensors")
    parts = {"a.safetensors": list(tensors)[:4], "b.safetensors": list(tensors)[4:]}
    for file, names in parts.items():
        save_file({n: tensors[n] for n in names}, folder / file, metadata={"format": "pt"})
    weight_map = {name: file for file, names in parts.items() for name in names}
    (folder / "model.safetensors.index.json").write_text(json.dumps({"metadata": {}, "weight_map": weight_map}))
    (folder / "model.safetensors").unlink()
    load(folder)
    (folder / "b.safetensors").write_bytes((folder / "b.safetensors").read_bytes()[:-8])
    error = refused(folder)
    assert "b.safetensors" in error.message and "damaged" in error.message


@pytest.mark.parametrize(
    "key",
    [
        "model.layers.1.mlp.up_proj.weight",  # a whole layer more
        "model.layers.0.self_attn.q_proj.bias",  # a part of each layer, which the module has a place for
        "model.layers.0.self_attn.q_norm.weight",  # and one that it has none for
    ],
)
def test_weights_of_layers_that_are_left_out(tmp_path: Path, key: str) -> None:
    folder = rewritten(tiny_llama(tmp_path / "m"), lambda t: {**t, key: torch.ones(4)})
    error = refused(folder)
    assert key in error.message and "config.json omits 1 weights" in error.message


@pytest.mark.parametrize(
    "key",
    [
        "vision_tower.layers.3.mlp.up_proj.weight",
        "mtp.layers.0.up_proj.weight",
        "model.layers.0.self_attn.masked_bias",
    ],
)
def test_what_is_left_over_without_harm_is_said(tmp_path: Path, caplog: pytest.LogCaptureFixture, key: str) -> None:
    folder = rewritten(tiny_llama(tmp_path / "m"), lambda t: {**t, key: torch.ones(4)})
    with caplog.at_level(logging.WARNING):
        load(folder)
    assert [r.getMessage() for r in caplog.records] == [f"1 weights of {folder} are not used: {key}"]


def test_what_the_library_knows_to_be_left_over_is_not_said(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    old = "model.layers.0.self_attn.rotary_emb.inv_freq"
    load(rewritten(tiny_llama(tmp_path / "m"), lambda t: {**t, old: torch.ones(4)}))
    load(tiny_t5(tmp_path / "t5"))
    assert not [r for r in caplog.records if r.levelno >= logging.WARNING]


def test_layers_that_guess_further_tokens_may_be_left_out() -> None:
    weights = {f"model.layers.{i}.mlp.weight": torch.ones(1) for i in range(3)}
    for extra, fails in ((0, True), (1, False)):
        config = SimpleNamespace(get_text_config=lambda n=extra: SimpleNamespace(num_nextn_predict_layers=n))
        model: Any = SimpleNamespace(state_dict=lambda: weights, named_modules=dict, config=config)
        found = {"mismatched_keys": [], "missing_keys": [], "unexpected_keys": ["model.layers.3.mlp.weight"]}
        if fails:
            with pytest.raises(Exception, match=r"model\.layers\.3"):
                check_found("m", model, found)
        else:
            check_found("m", model, found)


def test_embeddings_that_the_harness_would_tie(tmp_path: Path) -> None:
    """The checkpoint has two; the library keeps both, and the harness then makes one of them."""
    build_demo(folder := tmp_path / "m")
    untied = load(folder).model.get_output_embeddings().weight
    changed("config.json", tie_word_embeddings=True)(folder)
    error = refused(folder)
    assert "tie_word_embeddings" in error.message and "--model.backend_args.tie_word_embeddings false" in error.hint
    cured = load(folder, backend_args={"tie_word_embeddings": False}).model.get_output_embeddings().weight
    assert torch.equal(cured, untied)
    load(rewritten(folder, lambda t: {**t, "lm_head.weight": t["model.embed_tokens.weight"].clone()}))


NAN = float("nan")


def asked(n: int, **options: Any) -> list[Any]:
    return [SimpleNamespace(args=(f"What is {i}?", {"until": ["x"], "max_gen_toks": 4} | options)) for i in range(n)]


def test_all_kinds_of_models_pass() -> None:
    for name in DECODERS:
        try_model(name, loaded(decoder(name)))
        try_model(name, loaded(decoder(name).to(torch.bfloat16)))
    try_model("T5", loaded(encoder_decoder("T5")))


@pytest.mark.parametrize("value", [NAN, float("-inf")])
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


@pytest.mark.parametrize(
    ("name", "engine", "options"),
    [
        ("llama", "plain", {}), ("llama", "tree", {}), ("llama", "plain", {"do_sample": True, "temperature": 1.0}),
        ("T5", "plain", {}),
    ],
)  # fmt: skip
def test_answers_of_a_model_that_computes_no_numbers(name: str, engine: str, options: dict[str, Any]) -> None:
    """Such as one whose numbers overflow in long prompts only; the most probable token would be any."""
    lm = loaded(encoder_decoder(name) if name == "T5" else decoder(name))
    lm.engine = engine
    lm.generate_until(asked(4, **options), disable_tqdm=True)
    lm.model.lm_head.weight.data[5, 0] = NAN
    with pytest.raises(UserError, match="not a number"):
        lm.generate_until(asked(4, **options), disable_tqdm=True)


def test_an_encoder_does_not_write_from_left_to_right(tmp_path: Path) -> None:
    from transformers import BertConfig, BertForMaskedLM, BertLMHeadModel

    sizes = {"hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2, "num_attention_heads": 2}
    for decodes in (False, True):
        config = BertConfig(vocab_size=259, is_decoder=decodes, initializer_range=0.3, **sizes)
        with torch.random.fork_rng():
            torch.manual_seed(1)
            model: Any = (BertLMHeadModel if decodes else BertForMaskedLM)(config)
        model.save_pretrained(folder := tmp_path / str(decodes))
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


@pytest.mark.parametrize("name", ["gemma3n", "qwen2", "bloom"])
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


@pytest.mark.parametrize("named_in", [("config.json",), ("generation_config.json",), ()])
def test_the_token_that_ends_a_text_may_stand_in_any_file(tmp_path: Path, named_in: tuple[str, ...]) -> None:
    changed("tokenizer_config.json", eos_token=None)(folder := tiny_llama(tmp_path / "m"))
    for file in ("config.json", "generation_config.json"):
        changed(file, eos_token_id=[1] if file in named_in else None)(folder)
    lm = load(folder)
    assert lm.eot_token_id == (1 if named_in else None)
    if named_in:
        assert len(lm.generate_until(asked(1), disable_tqdm=True)) == 1
    else:
        with pytest.raises(UserError, match="no end-of-sequence token"):
            lm.generate_until(asked(1), disable_tqdm=True)


def test_answers_leave_room_for_prompts(tmp_path: Path) -> None:
    lm = load(tiny_llama(tmp_path / "m", max_length=64))
    requests = [SimpleNamespace(args=("a", {"until": [], "max_gen_toks": 64}))]
    with pytest.raises(UserError, match="answers may have 64 tokens, but the model's context has 64"):
        lm.generate_until(requests, disable_tqdm=True)
