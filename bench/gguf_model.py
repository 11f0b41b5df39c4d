"""A Llama as a GGUF file in float32, without a tokenizer: what llama.cpp needs to compute from tokens."""

from pathlib import Path
from typing import Any

import torch
from gguf import GGUFWriter
from transformers import AutoModelForCausalLM

NAMES = {
    "self_attn.q_proj": "attn_q",
    "self_attn.k_proj": "attn_k",
    "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output",
    "mlp.gate_proj": "ffn_gate",
    "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down",
    "input_layernorm": "attn_norm",
    "post_attention_layernorm": "ffn_norm",
}


def gguf_file(folder: Path, file: Path) -> Path:
    """Writes the Llama of a folder to a file."""
    model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)
    config = model.config
    writer = GGUFWriter(file, "llama")
    describe(writer, config)
    for name, weight in model.state_dict().items():
        if name == "lm_head.weight" and config.tie_word_embeddings:
            continue
        writer.add_tensor(named(name), rotated(name, weight, config).numpy())
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return file


def describe(writer: GGUFWriter, config: Any) -> None:
    writer.add_file_type(0)  # float32
    writer.add_tokenizer_model("none")
    writer.add_vocab_size(config.vocab_size)
    writer.add_context_length(config.max_position_embeddings)
    writer.add_embedding_length(config.hidden_size)
    writer.add_block_count(config.num_hidden_layers)
    writer.add_feed_forward_length(config.intermediate_size)
    writer.add_head_count(config.num_attention_heads)
    writer.add_head_count_kv(config.num_key_value_heads)
    writer.add_layer_norm_rms_eps(config.rms_norm_eps)
    writer.add_rope_dimension_count(config.head_dim)
    writer.add_rope_freq_base(config.rope_parameters["rope_theta"])


def named(name: str) -> str:
    """Returns the name in GGUF files of a tensor of transformers' Llama."""
    whole = {"model.embed_tokens.weight": "token_embd", "model.norm.weight": "output_norm", "lm_head.weight": "output"}
    if name in whole:
        return f"{whole[name]}.weight"
    layer, part = name.removeprefix("model.layers.").removesuffix(".weight").split(".", 1)
    return f"blk.{layer}.{NAMES[part]}.weight"


def rotated(name: str, weight: torch.Tensor, config: Any) -> torch.Tensor:
    """Returns a tensor as llama.cpp wants it: rotary embeddings turn neighbours, and not halves of a head."""
    heads = {"q_proj": config.num_attention_heads, "k_proj": config.num_key_value_heads}
    for kind, number in heads.items():
        if kind in name:
            return weight.unflatten(0, (number, 2, -1)).transpose(1, 2).reshape(weight.shape).contiguous()
    return weight
