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
