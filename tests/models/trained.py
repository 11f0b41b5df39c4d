"""Tiny models that have learnt some texts by heart, for tests of what a model remembers."""

from collections.abc import Sequence
from pathlib import Path

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
    optimizer = torch.optim.AdamW(model.parameters(), lr=rate)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, rate, total_steps=steps)
    for _ in range(steps):
        batch = [rows[i] for i in torch.randint(len(rows), (BATCH,), generator=order).tolist()]
        tokens = pad_sequence([ids for ids, _ in batch], batch_first=True, padding_value=tokenizer.pad_token_id)
        labels = pad_sequence([of for _, of in batch], batch_first=True, padding_value=IGNORED)
        shown = (tokens != tokenizer.pad_token_id).long()
        model(input_ids=tokens, attention_mask=shown, labels=labels).loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        schedule.step()
    model.save_pretrained(folder)
    return folder
