"""A model's layers call another attention for a while, and its own again afterwards, whatever happens."""

from typing import Any

import pytest
import torch
from tests.models.shapes import decoder
from transformers import AttentionInterface

from afrieval.models.engine.attention import attention_by, kind_of, placeholder


def test_layers_call_what_they_are_given_and_their_own_afterwards() -> None:
    model, called = decoder("gemma3"), list[int]()
    config, known = model.config, set(AttentionInterface())
    own, tokens = config._attn_implementation, torch.tensor([[5, 6, 7]])

    def nothing(layer: Any, query: torch.Tensor, *args: Any, **kwargs: Any) -> tuple[torch.Tensor, None]:
        called.append(layer.layer_idx)
        return torch.zeros_like(query).transpose(1, 2), None

    before = model(tokens).logits
    with attention_by(config, nothing):
        without = model(tokens).logits
    with pytest.raises(ZeroDivisionError), attention_by(config, nothing):
        raise ZeroDivisionError
    assert called == [0, 1] and not torch.equal(without, before)
    assert (config._attn_implementation, set(AttentionInterface())) == (own, known)
    assert torch.equal(model(tokens).logits, before)


def test_other_parts_of_a_model_keep_theirs() -> None:
    from transformers import Gemma3Config

    config = Gemma3Config(attn_implementation={"": "eager", "vision_config": "sdpa", "text_config": "eager"})
    with attention_by(config, lambda *args: (torch.zeros(1), None)):
        assert config._attn_implementation.startswith("afrieval")
        assert config.vision_config._attn_implementation == "sdpa"
    assert config._attn_implementation == config.text_config._attn_implementation == "eager"
    assert config.vision_config._attn_implementation == "sdpa"


def test_placeholders_tell_kinds_apart_and_are_taken_for_no_mask() -> None:
    for kind in range(3):
        mask = placeholder(kind, torch.bfloat16, torch.device("cpu"))
        assert kind_of(mask) == kind == kind_of(mask[..., :9])
    for wrong in (None, torch.zeros(1, 1, 1, 1), torch.zeros(1, 1, 4, 4), torch.zeros(2, 1, 2, 1)):
        with pytest.raises(ValueError, match="changed its mask"):
            kind_of(wrong)
