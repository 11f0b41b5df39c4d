"""COMET checkpoints as unbabel-comet writes them, with two small layers and weights that a formula gives."""

import json
from pathlib import Path
from typing import Any

LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.,'"
SPECIAL = ["<s>", "<pad>", "</s>", "<unk>"]
SIZE, LAYERS = 16, 2
FEATURES = {"regression_metric": 6, "referenceless_regression_metric": 4, "unified_metric": 1}


def tiny_comet(folder: Path, kind: str = "regression_metric", shift: int = 0, **changed: Any) -> Path:
    """Writes a checkpoint; another `shift` has other weights, and `changed` are settings."""
    import torch
    import yaml

    encoder = folder / "encoder"
    encoder.mkdir(parents=True)
    (folder / "checkpoints").mkdir()
    _tokenizer(encoder)
    weights = _weights(_encoder(encoder), FEATURES[kind], shift)
    layer = "sent_layer" if kind == "unified_metric" else "layer"
    settings = {
        "encoder_model": "XLM-RoBERTa",
        "pretrained_model": str(encoder),
        layer: "mix",
        "layer_transformation": "sparsemax",
        "layer_norm": False,
        "hidden_sizes": [8, 4],
        "activations": "Tanh",
        "final_activation": None,
        "dropout": 0.1,
        "nr_frozen_epochs": 0.3,
        **({"input_segments": ["mt", "src", "ref"], "word_level_training": False} if layer != "layer" else {}),
        **({"pool": "avg"} if layer == "layer" else {}),
        **changed,
    }
    (folder / "hparams.yaml").write_text(yaml.safe_dump({"class_identifier": kind, **settings}))
    checkpoint = {"state_dict": weights, "hyper_parameters": settings, "pytorch-lightning_version": "2.0.0"}
    torch.save(checkpoint, folder / "checkpoints" / "model.ckpt")
    return folder


def _tokenizer(folder: Path) -> None:
    from tokenizers import Tokenizer
    from tokenizers.models import Unigram
    from tokenizers.pre_tokenizers import Metaspace
    from tokenizers.processors import TemplateProcessing

    vocabulary = [(token, 0.0) for token in SPECIAL] + [("▁", -2.0)] + [(letter, -3.0) for letter in LETTERS]
    tokenizer = Tokenizer(Unigram([*vocabulary, ("<mask>", 0.0)], unk_id=3, byte_fallback=False))
    tokenizer.pre_tokenizer = Metaspace()
    tokenizer.post_processor = TemplateProcessing(
        single="<s> $A </s>", pair="<s> $A </s> </s> $B </s>", special_tokens=[("<s>", 0), ("</s>", 2)]
    )
    tokenizer.add_special_tokens([*SPECIAL, "<mask>"])
    tokenizer.save(str(folder / "tokenizer.json"))
    (folder / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": "XLMRobertaTokenizer"}))


def _encoder(folder: Path) -> dict[str, Any]:
    from transformers import XLMRobertaConfig, XLMRobertaModel

    config = XLMRobertaConfig(
        vocab_size=len(SPECIAL) + 2 + len(LETTERS),
        hidden_size=SIZE,
        intermediate_size=24,
        num_hidden_layers=LAYERS,
        num_attention_heads=2,
        max_position_embeddings=68,
        type_vocab_size=1,
        pad_token_id=1,
        bos_token_id=0,
        eos_token_id=2,
    )
    config.save_pretrained(folder)
    state: dict[str, Any] = XLMRobertaModel(config, add_pooling_layer=False).state_dict()
    return {f"encoder.model.{name}": tensor for name, tensor in state.items()}


def _weights(encoder: dict[str, Any], features: int, shift: int) -> dict[str, Any]:
    import torch

    shapes = {name: list(tensor.shape) for name, tensor in encoder.items()}
    sizes = [features * SIZE, 8, 4, 1]
    for i in range(3):
        shapes |= {
            f"estimator.ff.{3 * i}.weight": [sizes[i + 1], sizes[i]],
            f"estimator.ff.{3 * i}.bias": [sizes[i + 1]],
        }
    found = {}
    for i, (name, shape) in enumerate(shapes.items()):
        n = int(torch.tensor(shape).prod())
        values = 0.4 * torch.sin(torch.arange(n, dtype=torch.float64) * 12.9898 + 78.233 * (i + shift)).float()
        found[name] = values.reshape(shape) + (1 if name.endswith("LayerNorm.weight") else 0)
    shares = {f"layerwise_attention.scalar_parameters.{i}": torch.tensor([0.3 * i]) for i in range(LAYERS + 1)}
    return {**found, **shares, "layerwise_attention.gamma": torch.tensor([1.3])}
