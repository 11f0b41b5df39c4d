"""Tiny random models of the architectures that the engine may meet, loaded as the harness loads them."""

import logging
from types import SimpleNamespace
from typing import Any

from afrieval.models.demo import byte_tokenizer

WINDOW = 12
COMMON = {"hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2, "num_attention_heads": 4}
GROUPED = {**COMMON, "num_key_value_heads": 2}
MIXED = ["sliding_attention", "full_attention"]
SLIDES = {**GROUPED, "head_dim": 8, "sliding_window": WINDOW}
PER_LAYER = {"vocab_size_per_layer_input": 259, "hidden_size_per_layer_input": 8}
SHARED = {"intermediate_size": [48] * 4, "activation_sparsity_pattern": [0.0] * 4, "num_kv_shared_layers": 2}
LOCAL = {"attention_types": [[["global", "local"], 1]], "window_size": WINDOW}
DECODERS: dict[str, tuple[str, dict[str, Any]]] = {
    "llama": ("Llama", GROUPED),
    "mistral": ("Mistral", {**GROUPED, "sliding_window": WINDOW}),
    "gemma2": ("Gemma2", {**SLIDES, "query_pre_attn_scalar": 8}),
    "gemma3": ("Gemma3Text", {**SLIDES, "layer_types": MIXED}),
    "gemma3n": ("Gemma3nText", {**SLIDES, **SHARED, **PER_LAYER, "num_hidden_layers": 4, "layer_types": MIXED * 2}),
    "gemma4": ("Gemma4Text", {**SLIDES, **PER_LAYER, "global_head_dim": 16, "layer_types": MIXED}),
    "qwen2": ("Qwen2", GROUPED),
    "phi": ("Phi", COMMON),
    "neox": ("GPTNeoX", COMMON),
    "gpt2": ("GPT2LMHead", {"n_embd": 32, "n_layer": 2, "n_head": 4}),
    "opt": ("OPT", {**COMMON, "ffn_dim": 48, "word_embed_proj_dim": 32}),
    "xglm": ("XGLM", {"d_model": 32, "ffn_dim": 48, "num_layers": 2, "attention_heads": 4}),
    "falcon": ("Falcon", COMMON),
    "falcon-alibi": ("Falcon", {**COMMON, "alibi": True}),
    "bloom": ("Bloom", {"hidden_size": 32, "n_layer": 2, "n_head": 4}),
    "gptneo": ("GPTNeo", {"hidden_size": 32, "num_layers": 2, "num_heads": 4, **LOCAL}),
}
OLD = ["xglm", "falcon"]  # whose code calls no attention but its own
# Those that ask something of their own of the engine; `make test-models` has every class.
DIFFERENT = ["llama", "mistral", "gemma2", "gemma3", "gemma3n", "gemma4", "gpt2", "opt", *OLD]
ENCODER_DECODERS = {"T5": 1.5, "MT5": 1.0}  # and how large their weights are: rounding errors grow with them


def decoder(name: str, seed: int = 0, attention: str | None = None, **changed: Any) -> Any:
    """Returns a random decoder-only model of transformers, with weights large enough to tell wrong masks."""
    import torch
    import transformers

    kind, settings = DECODERS[name]
    if name == "gemma2":
        attention = attention or "eager"  # transformers before 5.21 forgets a soft cap otherwise
    tokens = {"vocab_size": len(byte_tokenizer()), "bos_token_id": 0, "eos_token_id": 1, "pad_token_id": 2}
    settings = {"initializer_range": 0.3, "init_std": 0.3, "tie_word_embeddings": False} | tokens | settings | changed
    config = getattr(transformers, f"{kind.removesuffix('LMHead')}Config")(**settings, attn_implementation=attention)
    model = f"{kind}Model" if kind.endswith("LMHead") else f"{kind.removesuffix('Text')}ForCausalLM"
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        return getattr(transformers, model)(config).eval()


def encoder_decoder(kind: str, seed: int = 0, **changed: int) -> Any:
    """Returns a random T5 or MT5 of two layers each."""
    import torch
    import transformers

    sizes = {"vocab_size": len(byte_tokenizer()), "d_model": 32, "d_kv": 8, "d_ff": 48, "num_layers": 2, "num_heads": 4}
    tokens = {"eos_token_id": 1, "pad_token_id": 2, "decoder_start_token_id": 40}
    config = getattr(transformers, f"{kind}Config")(
        **sizes | changed, **tokens, initializer_factor=ENCODER_DECODERS[kind]
    )
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        return getattr(transformers, f"{kind}ForConditionalGeneration")(config).eval()


def loaded(model: Any, batch_size: int | str = 1, **changed: Any) -> Any:
    """Returns a model of ours around one of transformers; it scores the plain way until told otherwise."""
    from afrieval.models.backends.hf import HF

    log = logging.getLogger("lm_eval.models.huggingface")
    level = log.level
    log.setLevel(logging.ERROR)  # it has something to say about models that come from no file
    usual = {"softmax_dtype": "float32", "max_length": 512, "tokenizer": byte_tokenizer()}
    arguments: dict[str, Any] = usual | changed
    try:
        lm = HF(pretrained=model, batch_size=batch_size, **arguments)
    finally:
        log.setLevel(level)
    lm.slots = batch_size if isinstance(batch_size, int) else None
    return lm


def asked(*args: Any) -> list[Any]:
    """Returns requests with these arguments, as the harness has them."""
    return [SimpleNamespace(args=each) for each in args]


def by_hand(model: Any, context: list[int], answer: list[int], backend: str = "causal") -> float:
    """Returns the likelihood of an answer by the bare model: one forward pass without a cache or a mask."""
    import torch

    with torch.no_grad():
        if backend == "causal":
            logits = model(input_ids=torch.tensor([(context + answer)[:-1]])).logits[0, len(context) - 1 :]
        else:
            logits = model(input_ids=torch.tensor([context]), labels=torch.tensor([answer])).logits[0]
    return float(torch.log_softmax(logits.double(), dim=-1)[range(len(answer)), answer].sum())


def warnings(caplog: Any) -> list[str]:
    """Returns what the suite has logged."""
    return [r.getMessage() for r in caplog.records if r.name == "afrieval"]


def merging() -> Any:
    """Returns a byte-pair tokenizer that merges across words and lines."""
    from tokenizers import Tokenizer, decoders, models
    from transformers import PreTrainedTokenizerFast

    letters = sorted(set("abcdefghijklmnopqrstuvwxyzAQ: ?\n"))
    merges = [("A", ":"), (":", " "), ("Q", ":"), ("w", "h"), ("wh", "o"), ("?", "\n"), ("A:", " "), (" ", "A")]
    vocabulary = {token: i for i, token in enumerate(["<s>", "</s>", *letters, *("".join(m) for m in merges)])}
    tokenizer = Tokenizer(models.BPE(vocabulary, merges))
    tokenizer.decoder = decoders.Fuse()
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, bos_token="<s>", eos_token="</s>")
