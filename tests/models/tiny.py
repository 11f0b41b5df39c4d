"""Tiny random models of other shapes than the demo's, for tests."""

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
    config = LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=32,
        intermediate_size=48,
        num_hidden_layers=1,
        num_attention_heads=2,
        max_position_embeddings=max_length,
        bos_token_id=0,
        eos_token_id=1,
        pad_token_id=2,
    )
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
    config = getattr(transformers, f"{kind}Config")(
        vocab_size=len(tokenizer),
        d_model=32,
        d_kv=16,
        d_ff=48,
        num_layers=1,
        num_heads=2,
        decoder_start_token_id=40,
        initializer_factor=6.0,
        eos_token_id=1,
        pad_token_id=2,
    )
    with torch.random.fork_rng():
        torch.manual_seed(0)
        getattr(transformers, f"{kind}ForConditionalGeneration")(config).save_pretrained(folder)
    return folder
