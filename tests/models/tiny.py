"""Tiny random models of other shapes than the demo's, for tests."""

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

from afrieval.models.demo import byte_tokenizer

CHAT = (
    "{% if messages[0]['role'] == 'system' %}{{ raise_exception('no system turn') }}{% endif %}"
    "{% for m in messages %}<{{ m['role'] }}>{{ m['content'] }}\n{% endfor %}"
    "{% if add_generation_prompt %}<assistant>{% endif %}"
)


def tiny_llama(folder: Path, seed: int = 0, max_length: int = 2048, chat_template: str | None = None) -> Path:
    """Writes a Llama of one layer; another seed is another model."""
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    tokenizer = byte_tokenizer()
    tokenizer.chat_template = chat_template
    tokenizer.save_pretrained(folder)
    tokens = {"vocab_size": len(tokenizer), "bos_token_id": 0, "eos_token_id": 1, "pad_token_id": 2}
    sizes = {"hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 1, "num_attention_heads": 2}
    config = LlamaConfig(**tokens, **sizes, max_position_embeddings=max_length)
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        LlamaForCausalLM(config).save_pretrained(folder)
    return folder


def tiny_t5(folder: Path, kind: str = "T5") -> Path:
    """Writes an encoder-decoder of one layer each; `kind` is T5 or MT5."""
    import torch
    import transformers

    tokenizer = byte_tokenizer()
    tokenizer.save_pretrained(folder)
    tokens = {"vocab_size": len(tokenizer), "eos_token_id": 1, "pad_token_id": 2, "decoder_start_token_id": 40}
    sizes = {"d_model": 32, "d_kv": 16, "d_ff": 48, "num_layers": 1, "num_heads": 2, "initializer_factor": 6.0}
    config = getattr(transformers, f"{kind}Config")(**tokens, **sizes)
    with torch.random.fork_rng():
        torch.manual_seed(0)
        getattr(transformers, f"{kind}ForConditionalGeneration")(config).save_pretrained(folder)
    return folder


def chained(folder: Path, chain: Sequence[str], special: Sequence[str], chat_template: str | None = None) -> Path:
    """Writes a Llama that writes one token of a chain after the other, and the end of the text after any other token.

    Args:
        folder: a new folder.
        chain: characters or special tokens, each of which is there once.
        special: special tokens that the tokenizer gets.
        chat_template: of the tokenizer.
    """
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer, GenerationConfig, LlamaConfig

    tokenizer = AutoTokenizer.from_pretrained(tiny_llama(folder, chat_template=chat_template))
    tokenizer.add_special_tokens({"additional_special_tokens": list(special)})
    tokenizer.save_pretrained(folder)
    n = len(tokenizer) + len(tokenizer) % 2
    config = LlamaConfig.from_pretrained(folder)
    config.vocab_size, config.hidden_size, config.head_dim = n, n, n // 2
    model = AutoModelForCausalLM.from_config(config)
    numbers = [tokenizer(token, add_special_tokens=False)["input_ids"][-1] for token in chain]
    following = dict(pairwise(numbers))
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.fill_(1.0 if parameter.dim() == 1 else 0.0)
        model.model.embed_tokens.weight.copy_(torch.eye(n))
        for token in range(n):
            model.lm_head.weight[following.get(token, config.eos_token_id), token] = 1.0
    model.generation_config = GenerationConfig(eos_token_id=config.eos_token_id, pad_token_id=config.pad_token_id)
    model.save_pretrained(folder)
    return folder
