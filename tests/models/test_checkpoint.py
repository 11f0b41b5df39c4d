"""A model that is not what its checkpoint holds is refused; what is left over without harm is said."""

import json
import logging
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file
from tests.models.damage import changed
from tests.models.test_folder import load, refused
from tests.models.tiny import tiny_llama, tiny_t5

from afrieval.models.checks import check_found
from afrieval.models.demo import build_demo

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
        "vision_tower.layers.3.mlp.up_proj.weight", "score.weight", "mtp.layers.0.up_proj.weight",
        "model.layers.0.self_attn.masked_bias", "model.layers.0.self_attn.bias",
    ],
)  # fmt: skip
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
