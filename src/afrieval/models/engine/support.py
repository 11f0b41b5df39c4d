"""Which models the engine can run: what their code says, then what they answer."""

import inspect
from typing import Any

from transformers.generation import GenerationConfig

from afrieval.models.engine.forward import FULL, SLIDING, kinds

NEEDED = {
    "position_ids": "takes no positions (ALiBi, for one, counts tokens itself)",
    "past_key_values": "has no cache of keys and values",
    "logits_to_keep": "gives logits for all positions only",
}
MOVING_ROPES = ("dynamic", "longrope")
HARMLESS = {
    "bos_token_id", "eos_token_id", "pad_token_id", "decoder_start_token_id", "max_length", "max_new_tokens",
    "do_sample", "temperature", "top_k", "top_p", "min_p", "typical_p", "use_cache", "cache_implementation",
    "transformers_version", "return_dict_in_generate", "output_attentions", "output_hidden_states",
}  # fmt: skip
NEUTRAL = {
    "num_beams": 1, "num_beam_groups": 1, "num_return_sequences": 1, "repetition_penalty": 1.0, "length_penalty": 1.0,
    "diversity_penalty": 0.0, "encoder_repetition_penalty": 1.0, "no_repeat_ngram_size": 0, "min_length": 0,
    "encoder_no_repeat_ngram_size": 0, "early_stopping": False, "remove_invalid_values": False, "epsilon_cutoff": 0.0,
    "eta_cutoff": 0.0, "output_scores": False, "output_logits": False, "renormalize_logits": False,
}  # fmt: skip


def obstacle(model: Any, backend: str = "causal", attention: str = "tiles") -> str | None:
    """Returns what in a model's code or settings forbids the engine, None if nothing does.

    Args:
        model: of transformers.
        backend: `causal` or `seq2seq`.
        attention: how a tree's is computed: in `tiles`, or by the model's own code with whole `masks`.
    """
    inner = model.get_base_model() if hasattr(model, "peft_config") else model
    if not type(inner).__module__.startswith("transformers."):
        return "brings its own code"
    if getattr(getattr(model, "active_peft_config", None), "is_prompt_learning", False):
        return "puts tokens of its own before each text (a tuned prompt)"
    if hasattr(inner.config, "expert_capacity"):
        return "drops tokens where many are computed at once (expert_capacity)"
    if getattr(inner.config, "attention_type", None) == "block_sparse":
        return "changes its attention for good when it meets a short text (block_sparse)"
    return _decoder_obstacle(inner, attention) if backend == "causal" else None


def _decoder_obstacle(inner: Any, attention: str) -> str | None:
    """Returns why a decoder-only model cannot take tokens that each see tokens of their own, None if it may."""
    config = inner.config.get_text_config(decoder=True)
    parameters = inspect.signature(inner.forward).parameters
    for name, reason in NEEDED.items():
        if name not in parameters:
            return reason
    if getattr(config, "alibi", False):
        return NEEDED["position_ids"]
    if "sliding_window" in (getattr(config, "per_layer_attributes", None) or ()):
        return "has layers with windows of several sizes"
    if strange := set(kinds(inner).names) - {FULL, SLIDING}:
        return f"has layers of another kind: {', '.join(sorted(strange))}"
    if "local" in (getattr(config, "attention_layers", None) or ()):
        return "has layers that look back by their own rule"
    if attention == "masks" and config._attn_implementation not in ("sdpa", "eager"):
        return f"uses {config._attn_implementation}, which takes no masks of ours"
    if rope := _rope_types(config) & set(MOVING_ROPES):
        return f"has positions that depend on the length of the whole prompt ({rope.pop()})"
    return None


def _rope_types(config: Any) -> set[str]:
    """Returns the kinds of rotary positions; some models have one for each kind of layer."""
    ropes = getattr(config, "rope_parameters", None) or {}
    nested = [r for r in ropes.values() if isinstance(r, dict)]
    return {str(r.get("rope_type", "default")) for r in nested or [ropes]}


def generation_obstacle(model: Any, options: dict[str, Any]) -> str | None:
    """Returns what makes generation more than taking the most probable token each time, None if nothing does.

    Args:
        model: the model; its own settings count where the options are silent.
        options: the harness' options of a request, those about length and stop texts left out.
    """
    drawn = options.get("do_sample") or options.get("temperature")
    asked = {name for name in options if name not in HARMLESS - {"eos_token_id"}} | ({"do_sample"} if drawn else set())
    own = model.generation_config.to_diff_dict()
    changed = {n for n, value in own.items() if not n.startswith("_") and n not in HARMLESS and value not in _idle(n)}
    return ", ".join(sorted(asked | changed)) or None


def _idle(name: str) -> tuple[Any, ...]:
    """Returns the values of a setting of generation that change nothing."""
    return (None, NEUTRAL.get(name), getattr(GenerationConfig(), name, None))
