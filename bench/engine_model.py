"""Models for timing: the shapes of real ones, random weights, and a tokenizer made on the spot. No download."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from afrieval.tasks.data.splits import load_split
from afrieval.tasks.declaration.spec import load_task

BEGIN, NEVER, PAD = SPECIAL = ["<s>", "<never>", "<pad>"]
END = "</s>"  # the last token
OFTEN = 2.0  # the end is as probable as gives answers of some fifty tokens, few of them hundreds
KEPT = 1.1  # a matrix returns vectors about as large as it is given: answers wander over the whole vocabulary


@dataclass(frozen=True)
class Shape:
    """The numbers of a model.

    Attributes:
        heads: query heads, and heads of keys and values.
        tied: whether the output matrix is the embeddings.
        kind: transformers' name of its kind.
        others: its other settings.
    """

    hidden: int
    intermediate: int
    layers: int
    heads: tuple[int, int]
    vocabulary: int
    tied: bool
    kind: str = "llama"
    others: tuple[tuple[str, Any], ...] = ()


def hybrid(layers: int, heads: tuple[int, int], kind: str, **others: Any) -> Shape:
    """Returns the shape of a small model some of whose layers keep a state."""
    return Shape(768, 2048, layers, heads, 16_384, True, kind, tuple(others.items()))


DELTA = {
    "linear_num_key_heads": 8,
    "linear_num_value_heads": 8,
    "linear_key_head_dim": 128,
    "linear_value_head_dim": 128,
}
MAMBA = {"mamba_n_heads": 24, "mamba_d_head": 64, "mamba_d_state": 128, "mamba_n_groups": 1}
SHAPES = {
    "tiny": Shape(32, 64, 2, (2, 2), 400, True),  # does it run at all
    "50m": Shape(768, 2048, 5, (12, 12), 16_384, True),
    "50m-qwen-3.5": hybrid(4, (6, 2), "qwen3_5_text", head_dim=128, **DELTA),
    "50m-granite-hybrid": hybrid(
        4,
        (12, 4),
        "granitemoehybrid",
        shared_intermediate_size=2048,
        num_local_experts=0,
        num_experts_per_tok=0,
        position_embedding_type="rope",
        layer_types=["mamba", "mamba", "attention", "mamba"],
        **MAMBA,
    ),
    "50m-lfm2": hybrid(6, (12, 4), "lfm2", block_auto_adjust_ff_dim=False, full_attn_idxs=[2, 5]),
    "llama-3.2-1b": Shape(2048, 8192, 16, (32, 8), 128_256, True),
    "llama-3-8b": Shape(4096, 14_336, 32, (32, 8), 128_256, False),
}


def shape_of(folder: Path) -> Shape:
    """Returns the numbers of a Llama in a folder."""
    config = json.loads((folder / "config.json").read_text())
    names = ("hidden_size", "intermediate_size", "num_hidden_layers", "vocab_size", "tie_word_embeddings")
    hidden, intermediate, layers, vocabulary, tied = (config[name] for name in names)
    heads = config["num_attention_heads"], config["num_key_value_heads"]
    return Shape(hidden, intermediate, layers, heads, vocabulary, tied)


def english(data: str) -> list[str]:
    """Returns the English questions of the data, for a tokenizer to learn from."""
    texts: list[str] = []
    for name in ("afrimmlu", "belebele"):
        split = load_split(load_task(name), "eng", "test", data)
        texts += [text for d in (split.documents if split else []) for text in (*d.fields.values(), *d.choices)]
    return texts


def tokenizer(texts: Iterable[str], size: int, end: str = END) -> Any:
    """Returns a byte-level BPE tokenizer learnt from some texts; English ones make it cut others into pieces.

    Args:
        texts: what it learns from.
        size: its number of tokens.
        end: the token that ends an answer; the other one of END and NEVER is written and read like any other text.
    """
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers
    from transformers import PreTrainedTokenizerFast

    made = Tokenizer(models.BPE())
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = decoders.ByteLevel()
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    trainer = trainers.BpeTrainer(
        vocab_size=size - 1, special_tokens=SPECIAL, initial_alphabet=alphabet, show_progress=False
    )
    made.train_from_iterator(texts, trainer)
    made = Tokenizer.from_str(_filled(made.to_str(), size))
    made.post_processor = processors.TemplateProcessing(single=f"{BEGIN} $A", special_tokens=[(BEGIN, 0)])
    return PreTrainedTokenizerFast(tokenizer_object=made, bos_token=BEGIN, eos_token=end, pad_token=PAD)


def _filled(described: str, size: int) -> str:
    """Returns a tokenizer with as many tokens as wanted: few texts have few, but a model may write all.

    The end is an ordinary token, which programs do not drop where it ends no answer.
    """
    stored = json.loads(described)
    vocabulary = stored["model"]["vocab"]
    vocabulary |= {f"({number})": number for number in range(len(vocabulary), size - 1)} | {END: size - 1}
    return json.dumps(stored)


def random_model(shape: Shape, device: str, dtype: str) -> Any:
    """Returns a model of a shape with random weights."""
    from transformers import AutoConfig, AutoModelForCausalLM

    config = AutoConfig.for_model(
        shape.kind,
        vocab_size=shape.vocabulary,
        hidden_size=shape.hidden,
        intermediate_size=shape.intermediate,
        num_hidden_layers=shape.layers,
        num_attention_heads=shape.heads[0],
        num_key_value_heads=shape.heads[1],
        tie_word_embeddings=shape.tied,
        max_position_embeddings=16_384,
        initializer_range=KEPT / shape.hidden**0.5,
        bos_token_id=0,
        eos_token_id=shape.vocabulary - 1,
        pad_token_id=SPECIAL.index(PAD),
        dtype=dtype,
        **dict(shape.others),
    )
    with torch.random.fork_rng(), torch.device(device):
        torch.manual_seed(0)
        before = torch.get_default_dtype()
        torch.set_default_dtype(getattr(torch, dtype))
        try:
            model = AutoModelForCausalLM.from_config(config)
        finally:
            torch.set_default_dtype(before)
    with torch.no_grad():
        model.get_output_embeddings().weight[-1] *= OFTEN
    return model.eval()


def saved(folder: Path, shape: Shape, texts: Iterable[str], device: str, dtype: str) -> Path:
    """Writes a model and its tokenizer, for whole runs."""
    tokenizer(texts, shape.vocabulary).save_pretrained(folder)
    random_model(shape, device, dtype).save_pretrained(folder)
    return folder


def endless(folder: Path, other: Path, texts: Iterable[str]) -> Path:
    """Writes the same model, with links to its weights; its answers end with a token that it hardly ever writes.

    Args:
        folder: where the model is.
        other: where to write.
        texts: what its tokenizer learned from.
    """
    from transformers import AutoConfig, GenerationConfig

    for kind in (AutoConfig, GenerationConfig):
        kind.from_pretrained(folder, eos_token_id=SPECIAL.index(NEVER)).save_pretrained(other)
    tokenizer(texts, AutoConfig.from_pretrained(folder).vocab_size, NEVER).save_pretrained(other)
    for path in (*folder.glob("*.safetensors"), *folder.glob("*.index.json")):
        (other / path.name).symlink_to(path)
    return other
