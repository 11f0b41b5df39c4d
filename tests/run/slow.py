"""Log-likelihoods the slow way: token by token, plain PyTorch, no cache, no batch."""

from pathlib import Path


def slow_loglikelihood(folder: Path, context: str, continuation: str) -> float:
    """Returns the sum of the log-probabilities of the continuation's tokens, one forward pass for each."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
    whole = tokenizer.encode(context + continuation)
    total = 0.0
    for position in range(len(tokenizer.encode(context)), len(whole)):
        with torch.no_grad():
            logits = model(torch.tensor([whole[:position]])).logits[0, -1]
        total += torch.log_softmax(logits, dim=0)[whole[position]].item()
    return total
