"""GGUF files, which are converted once, and models of the hub in a folder that AFRIEVAL_MODELS names."""

from pathlib import Path

import pytest
import torch
from tests.conftest import Cli, Refusal
from tests.models.tiny import tiny_llama
from transformers import AutoTokenizer, LlamaForCausalLM

from afrieval.models.demo import byte_tokenizer
from afrieval.models.gguf import converted

NAMES = {  # of weights, as in the specification of the format
    "embed_tokens": "token_embd",
    "layers.0.input_layernorm": "blk.0.attn_norm",
    "layers.0.post_attention_layernorm": "blk.0.ffn_norm",
    "layers.0.self_attn.q_proj": "blk.0.attn_q",
    "layers.0.self_attn.k_proj": "blk.0.attn_k",
    "layers.0.self_attn.v_proj": "blk.0.attn_v",
    "layers.0.self_attn.o_proj": "blk.0.attn_output",
    "layers.0.mlp.gate_proj": "blk.0.ffn_gate",
    "layers.0.mlp.up_proj": "blk.0.ffn_up",
    "layers.0.mlp.down_proj": "blk.0.ffn_down",
    "norm": "output_norm",
}


def write_gguf(model: LlamaForCausalLM, file: Path) -> Path:
    """Writes a Llama of one layer with byte tokens as llama.cpp does: float32, halves of each head interleaved."""
    from gguf import GGUFWriter

    config, writer = model.config, GGUFWriter(file, "llama")
    heads = config.num_attention_heads
    writer.add_block_count(1)
    writer.add_context_length(config.max_position_embeddings)
    writer.add_embedding_length(config.hidden_size)
    writer.add_feed_forward_length(config.intermediate_size)
    writer.add_head_count(heads)
    writer.add_head_count_kv(heads)
    writer.add_layer_norm_rms_eps(config.rms_norm_eps)
    writer.add_rope_freq_base(10000.0)
    writer.add_vocab_size(config.vocab_size)
    tokens = byte_tokenizer().convert_ids_to_tokens(list(range(config.vocab_size)))
    tokens[2] = "ĠĠ"  # in place of padding, for a merge, of which there must be one
    writer.add_tokenizer_model("gpt2")
    writer.add_token_list(tokens)
    writer.add_token_types([3] * 2 + [1] * (len(tokens) - 2))  # special tokens, ordinary ones
    writer.add_token_merges(["Ġ Ġ"])
    writer.add_bos_token_id(0)
    writer.add_eos_token_id(1)
    for ours, theirs in NAMES.items():
        weight = model.model.get_parameter(f"{ours}.weight").detach()
        if theirs in ("blk.0.attn_q", "blk.0.attn_k"):
            weight = weight.unflatten(0, (heads, 2, -1)).swapaxes(1, 2).flatten(0, 2)
        writer.add_tensor(f"{theirs}.weight", weight.contiguous().numpy())
    writer.add_tensor("output.weight", model.lm_head.weight.detach().numpy())
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return file


@pytest.fixture
def model_file(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)  # after `cli`, which goes elsewhere
    return write_gguf(LlamaForCausalLM.from_pretrained(tiny_llama(tmp_path / "tiny")), tmp_path / "Tiny-1K.Q4_1.gguf")


def test_a_converted_model_has_the_same_logits_and_tokens(model_file: Path, tmp_path: Path) -> None:
    model, folder = LlamaForCausalLM.from_pretrained(tmp_path / "tiny"), converted(model_file)
    ids = AutoTokenizer.from_pretrained(folder)("Ṣé ó dára?", add_special_tokens=False, return_tensors="pt").input_ids
    assert ids.tolist()[0] == byte_tokenizer()("Ṣé ó dára?", add_special_tokens=False).input_ids
    torch.testing.assert_close(LlamaForCausalLM.from_pretrained(folder)(ids).logits, model(ids).logits)


def test_a_run_with_a_file_goes_on_with_its_copy(model_file: Path, cli: Cli) -> None:
    words = "run", model_file, "afrixnli", "--languages", "yor", "--data", "samples", "--limit", "1"
    first = cli(*map(str, words))
    assert first.code == 0 and "converting Tiny-1K.Q4_1.gguf" in first.err
    moved = model_file.rename(model_file.with_name("moved.gguf"))
    again = cli("plan", str(moved), *map(str, words[2:]))
    assert again.code == 0 and "converting" not in again.err
    assert cli("doctor", "--model.model_name", str(moved)).code == 0


def test_files_that_are_not_models(
    model_file: Path, refusal: Refusal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pointer, cut = tmp_path / "pointer.gguf", tmp_path / "cut.gguf"
    pointer.write_text("version https://git-lfs.github.com/spec/v1\n")
    cut.write_bytes(model_file.read_bytes()[:5000])
    for file, message in {
        pointer: "is not a GGUF file",
        cut: "cut.gguf cannot be loaded",
        tmp_path / "none.gguf": "none.gguf does not exist",
    }.items():
        assert message in refusal("run", str(file), "afrixnli", "--data", "samples")
    monkeypatch.setattr("afrieval.models.gguf.find_spec", lambda name: None)
    for command in ("run", "plan"):
        assert "pip install 'afrieval[gguf]'" in refusal(command, str(model_file), "afrixnli", "--data", "samples")


def test_a_folder_of_models(cli: Cli, refusal: Refusal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    words = "run", "masakhane/tiny", "afrixnli", "--languages", "yor", "--data", "samples", "--limit", "1"
    tiny_llama(tmp_path / "models" / "masakhane" / "tiny")
    monkeypatch.setenv("AFRIEVAL_MODELS", str(tmp_path / "models"))
    monkeypatch.chdir(tmp_path)
    assert cli(*words).code == 0
    assert [path.name for path in (tmp_path / "runs" / "afrixnli").iterdir()] == ["masakhane__tiny"]
    monkeypatch.setenv("AFRIEVAL_MODELS", str(tmp_path / "nowhere"))
    assert "AFRIEVAL_MODELS" in refusal(*words[:4], "hau", *words[5:])
