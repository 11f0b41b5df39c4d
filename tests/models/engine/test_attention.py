"""Attention over keys in parts is attention over all of them, whatever computes it and whatever layers are given."""

import math
from itertools import product
from typing import Any

import pytest
import torch
from tests.models.shapes import decoder
from torch.nn.functional import pad
from transformers import AttentionInterface

from afrieval.models.engine import attention
from afrieval.models.engine.attention import Part, additive, attend, attention_by, kind_of, merged, placeholder

TOLERANCE = {torch.float64: 1e-12, torch.float32: 1e-5, torch.bfloat16: 0.03, torch.float16: 4e-3}
SHAPES = {  # batch, heads, key heads, n, m, d, d_v
    "one head each": (1, 3, 3, 40, 70, 8, 8),
    "shared keys": (2, 6, 2, 40, 33, 8, 8),
    "few queries": (2, 6, 2, 3, 33, 8, 8),
    "one query": (3, 4, 1, 1, 600, 8, 8),
    "one key": (2, 4, 2, 5, 1, 8, 8),
    "narrow values": (1, 4, 2, 35, 20, 12, 8),
    "wide values": (2, 4, 4, 35, 20, 6, 10),
}
MASKS = ("none", "boolean", "additive", "of keys", "causal")


def drawn(shape: str, dtype: torch.dtype) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    batch, heads, key_heads, n, m, d, d_v = SHAPES[shape]
    draw = torch.Generator().manual_seed(1)
    # as a model has them: heads behind tokens, and keys in a buffer that is longer
    query = torch.randn(batch, n, heads, d, generator=draw, dtype=torch.float64).transpose(1, 2)
    key, value = (torch.randn(batch, key_heads, m + 5, w, generator=draw, dtype=torch.float64) for w in (d, d_v))
    return 2 * query.to(dtype), key.to(dtype)[:, :, :m], value.to(dtype)[:, :, :m]


def mask_of(kind: str, batch: int, n: int, m: int) -> torch.Tensor | None:
    """Returns which keys are seen; of the boolean masks' rows, one sees none."""
    if kind == "none":
        return None
    if kind == "causal":
        return torch.ones(1, 1, n, m, dtype=torch.bool).tril()
    rows = 1 if kind == "of keys" else n
    mask = torch.rand(batch, 1, rows, m, generator=torch.Generator().manual_seed(2)) < 0.6
    mask[..., 0] |= ~mask.any(dim=-1)
    return mask


def definition(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    scale: float,
    mask: torch.Tensor | None,
    softcap: float | None,
) -> Part:
    groups = query.shape[1] // key.shape[1]
    key, value = (x.double().repeat_interleave(groups, dim=1) for x in (key, value))
    scores = torch.einsum("bhnd,bhmd->bhnm", query.double(), key) * scale
    scores = scores if softcap is None else softcap * torch.tanh(scores / softcap)
    scores = scores if mask is None else scores.masked_fill(~mask, -math.inf)
    return torch.softmax(scores, dim=-1) @ value, torch.logsumexp(scores, dim=-1)


def far(found: Part, expected: Part) -> float:
    assert [x.shape for x in found] == [x.shape for x in expected]
    return max(float((a.double() - b).abs().max()) for a, b in zip(found, expected, strict=True))


@pytest.mark.parametrize("dtype", TOLERANCE)
def test_it_is_the_definition(dtype: torch.dtype) -> None:
    for case in product(SHAPES, MASKS, (None, 1.5)):
        check_definition(dtype, *case)


def check_definition(dtype: torch.dtype, shape: str, kind: str, softcap: float | None) -> None:
    query, key, value = drawn(shape, dtype)
    if kind == "causal":
        key, value = (x[:, :, : query.shape[2]] for x in (key, value))
        query = query[:, :, : key.shape[2]]
    mask = mask_of(kind, query.shape[0], query.shape[2], key.shape[2])
    handed = None if kind in ("none", "causal") or mask is None else mask
    handed = additive(handed, dtype) if handed is not None and kind == "additive" else handed
    found = attend(query, key, value, scale=0.4, mask=handed, causal=kind == "causal", softcap=softcap)
    assert found[0].dtype == dtype and found[1].dtype == torch.promote_types(dtype, torch.float32)
    assert far(found, definition(query, key, value, 0.4, mask, softcap)) < TOLERANCE[dtype], (shape, kind, softcap)


@pytest.mark.parametrize("softcap", [None, 1.5])
@pytest.mark.parametrize("dtype", TOLERANCE)
def test_parts_are_merged_to_the_whole(dtype: torch.dtype, softcap: float | None) -> None:
    query, key, value = drawn("shared keys", dtype)
    mask = mask_of("boolean", 2, 40, 33)
    assert mask is not None
    mask[:, :, 5, 10:20] = mask[:, :, 6:9, :10] = False  # rows without a key in one of the parts
    parts = [
        attend(query, key[:, :, a:b], value[:, :, a:b], scale=0.4, mask=mask[..., a:b], softcap=softcap)
        for a, b in ((0, 10), (10, 20), (20, 33))
    ]
    assert mask[..., 20:].any(dim=-1).all()
    assert far(merged(parts), definition(query, key, value, 0.4, mask, softcap)) < 2 * TOLERANCE[dtype]
    assert merged(parts)[0].dtype == dtype


def test_one_part_is_the_whole() -> None:
    part = (torch.randn(1, 2, 3, 4), torch.randn(1, 2, 3))
    assert merged([part]) == part


def test_scores_are_written_down_in_slices(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("afrieval.models.engine.attention.SCORES", 300)
    query, key, value = drawn("shared keys", torch.float64)
    mask = mask_of("boolean", 2, 40, 33)
    found = attend(query, key, value, scale=0.4, mask=mask, softcap=1.5)
    assert far(found, definition(query, key, value, 0.4, mask, 1.5)) < 1e-12


@pytest.mark.parametrize("kind", MASKS)
@pytest.mark.parametrize("shape", SHAPES)
def test_what_a_kernel_for_gpus_is_handed_is_as_it_wants_it(
    shape: str, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The kernel itself is replaced: its shapes and strides are checked as its source does (attention.cu)."""

    def kernel(
        query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, bias: torch.Tensor | None, *args: Any, scale: float
    ) -> tuple[torch.Tensor, ...]:
        assert args == (True, 0.0, kind == "causal")
        assert query.shape[:2] == key.shape[:2] == value.shape[:2]
        if bias is not None:
            assert bias.shape == (*query.shape[:3], key.shape[2]) and bias.dtype == query.dtype
            assert bias.stride(-1) == 1 and all(stride % 16 == 0 for stride in bias.stride()[:3])
        causal = mask_of("causal", 1, query.shape[2], key.shape[2]) if kind == "causal" else None
        output, lse = definition(query, key, value, scale, bias == 0 if bias is not None else causal, None)
        return output, pad(lse, (0, -lse.shape[-1] % 32), value=math.nan), query, query

    query, key, value = drawn(shape, torch.float64)
    if kind == "causal":
        key, value = (x[:, :, : query.shape[2]] for x in (key, value))
        query = query[:, :, : key.shape[2]]
    mask = mask_of(kind, query.shape[0], query.shape[2], key.shape[2])
    handed = None if kind in ("none", "causal") or mask is None else mask
    monkeypatch.setattr(attention, "can_use_efficient_attention", lambda params: True)
    monkeypatch.setattr(torch.ops.aten, "_scaled_dot_product_efficient_attention", kernel, raising=False)
    handed = additive(handed, query.dtype) if handed is not None else None
    found = attention._efficient(query, key, value, 0.4, handed, kind == "causal")
    assert found is not None
    assert far(found, definition(query, key, value, 0.4, mask, None)) < 1e-12


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
