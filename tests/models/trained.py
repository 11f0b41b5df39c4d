"""Tiny models that have learnt some texts by heart, for tests of what a model remembers."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from tests.models.tiny import tiny_llama

BATCH = 16
IGNORED = -100  # label of tokens that are not learnt


def trained(
    folder: Path, examples: Sequence[tuple[str, str]], seed: int = 0, steps: int = 200, rate: float = 3e-3
) -> Path:
    """Writes a tiny Llama with byte tokens that was trained on answers to prompts.

    The same arguments give the same model, on one machine.

    Args:
        folder: a new folder.
        examples: prompts, which may be empty, and what follows each after a space.
        seed: of the weights, and of the order of examples.
        steps: batches of 16 examples.
        rate: highest learning rate.
    """
    import torch
    from torch.nn.utils.rnn import pad_sequence
    from transformers import AutoModelForCausalLM, AutoTokenizer

    tiny_llama(folder, seed)
    model, tokenizer = AutoModelForCausalLM.from_pretrained(folder), AutoTokenizer.from_pretrained(folder)
    rows = []
    for prompt, answer in examples:
        before = tokenizer(prompt)["input_ids"]
        text = f" {answer}" if prompt else answer
        after = [*tokenizer(text, add_special_tokens=False)["input_ids"], tokenizer.eos_token_id]
        labels = [*(IGNORED for _ in before), *after]
        rows.append((torch.tensor([*before, *after]), torch.tensor(labels)))
    order = torch.Generator().manual_seed(seed)

    def batch() -> dict[str, Any]:
        drawn = [rows[i] for i in torch.randint(len(rows), (BATCH,), generator=order).tolist()]
        tokens = pad_sequence([ids for ids, _ in drawn], batch_first=True, padding_value=tokenizer.pad_token_id)
        labels = pad_sequence([of for _, of in drawn], batch_first=True, padding_value=IGNORED)
        shown = (tokens != tokenizer.pad_token_id).long()
        return {"input_ids": tokens, "attention_mask": shown, "labels": labels}

    fit(model, batch, steps, rate)
    model.save_pretrained(folder)
    return folder


def fit(model: Any, batch: Callable[[], dict[str, Any]], steps: int, rate: float) -> None:
    """Trains a model on as many batches as there are steps; `rate` is the highest learning rate."""
    import torch

    optimizer = torch.optim.AdamW(model.parameters(), lr=rate)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, rate, total_steps=steps)
    for _ in range(steps):
        model(**batch()).loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        schedule.step()


STEPS, WINDOW, RATE = 160, 48, 1e-2
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

    tokenizer = byte_pairs(words)
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


def byte_pairs(words: Sequence[str]) -> Any:
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
