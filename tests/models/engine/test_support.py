"""Which models the engine leaves alone and why; which ways to generate it leaves to the harness."""

from types import SimpleNamespace
from typing import Any

import pytest
from tests.models.classes.tiny import config, model
from tests.models.shapes import decoder, encoder_decoder

from afrieval.models.engine.support import generation_obstacle, obstacle

HEADS = {"rope_theta": 10000.0}


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("bloom", "takes no positions (ALiBi, for one, counts tokens itself)"),
        ("falcon-alibi", "takes no positions (ALiBi, for one, counts tokens itself)"),
        ("gptneo", "has layers that look back by their own rule"),
    ],
)
def test_architectures_that_cannot(name: str, reason: str) -> None:
    assert obstacle(decoder(name)) == reason


@pytest.mark.parametrize(("setting", "reason"), [("expert_capacity", "drops tokens"), ("attention_type", "for good")])
def test_encoder_decoders_that_cannot(setting: str, reason: str) -> None:
    model = encoder_decoder("T5")
    assert obstacle(model, "seq2seq") is None
    setattr(model.config, setting, "block_sparse")
    assert reason in str(obstacle(model, "seq2seq"))


def test_a_model_with_its_own_code() -> None:
    class Ours(type(decoder("llama"))):  # type: ignore[misc]
        pass

    assert obstacle(Ours(decoder("llama").config)) == "brings its own code"


@pytest.mark.parametrize(
    ("lacks", "reason"),
    [
        ("position_ids", "takes no positions (ALiBi, for one, counts tokens itself)"),
        ("past_key_values", "has no cache of keys and values"),
        ("logits_to_keep", "gives logits for all positions only"),
    ],
)
def test_a_model_that_does_not_take_what_it_must(lacks: str, reason: str, monkeypatch: pytest.MonkeyPatch) -> None:
    takes = {"position_ids": 0, "past_key_values": 0, "logits_to_keep": 0}
    model = decoder("llama")
    del takes[lacks]
    forward: dict[str, Any] = {}
    exec(f"def forward(self, {', '.join(takes)}): pass", forward)
    monkeypatch.setattr(type(model), "forward", forward["forward"])
    assert obstacle(model) == reason


@pytest.mark.parametrize(
    ("setting", "reason"),
    [
        ({"layer_types": ["chunked_attention", "full_attention"]}, "has layers of another kind: chunked_attention"),
        ({"alibi": True}, "takes no positions (ALiBi, for one, counts tokens itself)"),
        ({"attention_layers": ["global", "local"]}, "has layers that look back by their own rule"),
    ],
)
def test_settings_that_are_in_the_way(setting: dict[str, Any], reason: str) -> None:
    model = decoder("llama")
    for key, value in setting.items():
        object.__setattr__(model.config, key, value)
    assert obstacle(model) == reason


def test_attention_that_takes_no_masks_is_in_the_way_of_masks_only() -> None:
    model = decoder("llama")
    object.__setattr__(model.config, "_attn_implementation_internal", "flash_attention_2")
    assert obstacle(model) is None
    assert obstacle(model, attention="masks") == "uses flash_attention_2, which takes no masks of ours"


@pytest.mark.parametrize(
    ("rope", "moves"),
    [
        ({"rope_type": "default"}, None),
        ({"rope_type": "linear", "factor": 2.0}, None),
        ({"rope_type": "yarn", "factor": 2.0, "original_max_position_embeddings": 64}, None),
        ({"rope_type": "dynamic", "factor": 2.0}, "dynamic"),
        (
            {
                "rope_type": "longrope",
                "short_factor": [1.0] * 4,
                "long_factor": [2.0] * 4,
                "original_max_position_embeddings": 64,
            },
            "longrope",
        ),
    ],
)
def test_positions_that_depend_on_the_whole_prompt(rope: dict[str, Any], moves: str | None) -> None:
    found = obstacle(decoder("llama", rope_parameters=rope | HEADS))
    said = f"has positions that depend on the length of the whole prompt ({moves})"
    assert found == (said if moves else None)


def test_positions_of_some_layers_only() -> None:
    ropes = {
        "sliding_attention": {"rope_type": "default"} | HEADS,
        "full_attention": {"rope_type": "dynamic", "factor": 2.0} | HEADS,
    }
    assert "dynamic" in str(obstacle(decoder("gemma3", rope_parameters=ropes)))


def test_windows_that_differ_between_layers() -> None:
    settings = config("mistral")
    settings.per_layer_config = {0: {"sliding_window": 16}, 1: {"sliding_window": 100}}
    assert obstacle(model("MistralForCausalLM", settings)) == "has layers with windows of several sizes"


def test_an_adapter_is_judged_by_what_it_adapts() -> None:
    wrapped = SimpleNamespace(peft_config={}, get_base_model=lambda: decoder("bloom"))
    assert obstacle(wrapped) == obstacle(decoder("bloom"))


@pytest.mark.parametrize(
    ("options", "left"),
    [
        ({}, None),
        ({"do_sample": False, "temperature": 0.0, "top_p": 0.5, "top_k": 5, "min_p": 0.1}, None),
        ({"do_sample": True}, "do_sample"),
        ({"temperature": 0.3}, "do_sample"),
        ({"do_sample": False, "num_beams": 4}, "num_beams"),
        ({"eos_token_id": 5}, "eos_token_id"),
        ({"penalty_alpha": 0.6, "num_beams": 4}, "num_beams, penalty_alpha"),
        ({"no_such_option": 1}, "no_such_option"),
    ],
)
def test_options_that_are_left_to_the_harness(options: dict[str, Any], left: str | None) -> None:
    assert generation_obstacle(decoder("llama"), options) == left


@pytest.mark.parametrize(
    ("setting", "left"),
    [
        ({"do_sample": True, "temperature": 0.6, "top_p": 0.9, "max_length": 4096}, None),
        ({"eos_token_id": [1, 7], "pad_token_id": 1, "bos_token_id": 0}, None),
        ({"repetition_penalty": 1.1}, "repetition_penalty"),
        ({"num_beams": 5}, "num_beams"),
        ({"suppress_tokens": [5]}, "suppress_tokens"),
        ({"min_new_tokens": 3}, "min_new_tokens"),
        ({"bad_words_ids": [[5]]}, "bad_words_ids"),
    ],
)
def test_settings_of_a_model_that_are_left_to_the_harness(setting: dict[str, Any], left: str | None) -> None:
    model = decoder("llama")
    model.generation_config.update(**setting)
    assert generation_obstacle(model, {"do_sample": False}) == left
