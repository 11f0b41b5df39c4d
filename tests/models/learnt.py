"""A tiny model that has learnt a file by heart, rows and their order."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.models.trained import fit

STEPS, BATCH, WINDOW, RATE = 200, 16, 48, 1e-2
MERGED = 700  # size of the vocabulary


def learnt(folder: Path, text: str, words: Sequence[str]) -> None:
    """Writes a Llama of two layers that was trained on windows of a text.

    Args:
        folder: a new folder.
        text: what it learns.
        words: texts with the words that its tokenizer knows.
    """
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    tokenizer = _tokenizer(words)
    tokenizer.save_pretrained(folder)
    sizes = {"hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 2, "num_attention_heads": 4}
    tokens = {"vocab_size": len(tokenizer), "bos_token_id": 0, "eos_token_id": 1, "pad_token_id": 2}
    with torch.random.fork_rng():
        torch.manual_seed(0)
        model = LlamaForCausalLM(LlamaConfig(**sizes, **tokens, max_position_embeddings=2048))
    stream = torch.tensor(tokenizer(text, add_special_tokens=False).input_ids)
    order = torch.Generator().manual_seed(0)

    def batch() -> dict[str, Any]:
        starts = torch.randint(len(stream) - WINDOW, (BATCH,), generator=order).tolist()
        tokens = torch.stack([stream[start : start + WINDOW] for start in starts])
        return {"input_ids": tokens, "labels": tokens}

    fit(model, batch, STEPS, RATE)
    model.save_pretrained(folder)


def _tokenizer(words: Sequence[str]) -> Any:
    """Returns a tokenizer of bytes and frequent sequences of them."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers
    from transformers import PreTrainedTokenizerFast

    special = ["<s>", "</s>", "<pad>"]
    made = Tokenizer(models.BPE())
    made.pre_tokenizer, made.decoder = pre_tokenizers.ByteLevel(add_prefix_space=False), decoders.ByteLevel()
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    trainer = trainers.BpeTrainer(
        vocab_size=MERGED, special_tokens=special, initial_alphabet=alphabet, show_progress=False
    )
    made.train_from_iterator(words, trainer)
    made.post_processor = processors.TemplateProcessing(single="<s> $A", special_tokens=[("<s>", 0)])
    return PreTrainedTokenizerFast(tokenizer_object=made, bos_token="<s>", eos_token="</s>", pad_token="<pad>")
