"""Computes attention with its log-sum-exp, so that parts over different keys merge, and makes layers call it."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.backends.cuda import SDPAParams, can_use_efficient_attention, can_use_flash_attention
from torch.nn.functional import pad
from transformers import AttentionInterface

Attention = Callable[..., tuple[Tensor, None]]
FIRST = 2  # rows of the first placeholder: a mask of one row would be applied to all tokens


@contextmanager
def attention_by(config: Any, function: Attention) -> Iterator[None]:
    """Makes the layers of a model call a function for attention, as transformers calls its own.

    Args:
        config: of the model's decoder; layers look up there whom to call.
        function: takes a layer, queries, keys, values, the layer's mask, and options by name.
    """
    usual, name = config._attn_implementation, f"afrieval-{id(function)}"
    AttentionInterface.register(name, function)
    config._attn_implementation = {"": name}  # not of its parts that see images or hear
    try:
        yield
    finally:
        config._attn_implementation = {"": usual}
        AttentionInterface._global_mapping.pop(name)


def placeholder(kind: int, dtype: torch.dtype, device: torch.device) -> Tensor:
    """Returns a small tensor in place of a mask that would be too large; its shape says the kind of layer.

    It has as many dimensions as masks that transformers passes on to the layers unchanged, and is copied from device
    to device with them.
    """
    return torch.zeros(1, 1, FIRST + kind, 1, dtype=dtype, device=device)


def kind_of(mask: Tensor | None) -> int:
    """Returns the kind of layer of a placeholder.

    Raises:
        ValueError: for any other mask.
    """
    if mask is None or mask.shape[:2] != (1, 1) or mask.shape[2] < FIRST or mask.shape[3] != 1:
        raise ValueError("a layer has changed its mask")
    return int(mask.shape[2]) - FIRST


Part = tuple[Tensor, Tensor]
FEW = 32  # queries of so few tokens do too little work for each key that they load
SCORES = 2**24  # numbers at a time where scores have to be written down
ALIGNED = 8  # kernels for GPUs take heads of a multiple of this, and rows of masks of twice as much


class Tile(NamedTuple):
    """Some queries and a range of keys; without a mask, every one of them sees all of these.

    Attributes:
        queries: counted from the first of the pass.
        keys: counted from the first in the buffers of a layer.
        mask: what is added to scores, [1, 1, queries, keys], or of slots of a cache, [slots, 1, 1, keys].
        causal: whether the keys belong to the queries, each of which sees its own and the keys before.
    """

    queries: slice
    keys: slice
    mask: Tensor | None = None
    causal: bool = False


def attend(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    *,
    scale: float,
    mask: Tensor | None = None,
    causal: bool = False,
    softcap: float | None = None,
) -> Part:
    """Returns attention and the log-sum-exp of its scaled, masked scores.

    Args:
        query: [batch, heads, n, d].
        key: [batch, key heads, m, d]; the number of key heads divides the number of heads.
        value: [batch, key heads, m, d_v].
        scale: factor of the scores.
        mask: boolean, or numbers to add to the scores that are all finite (`additive`), [batch or 1, 1, n or 1, m].
        causal: whether query i sees keys 0 to i only; n equals m then, and there is no mask.
        softcap: scores s become softcap * tanh(s / softcap).

    Returns:
        Attention, [batch, heads, n, d_v], and log-sum-exp, [batch, heads, n], in float32 or, of float64, in that.
        A query that sees no key has a log-sum-exp so small that its attention counts for nothing in `merged`.
    """
    if mask is not None and mask.dtype == torch.bool:
        mask = additive(mask, query.dtype)
    (batch, heads, n, _), groups = query.shape, query.shape[1] // key.shape[1]
    folded = groups > 1 and n <= FEW and not causal and (mask is None or mask.shape[-2] == 1)
    if folded:  # the queries of all heads that share a key meet it at once
        query = query.reshape(batch, key.shape[1], groups * n, -1)
    output, lse = _kernel(query, key, value, scale, mask, causal, softcap)
    if folded:
        output, lse = output.reshape(batch, heads, n, -1), lse.reshape(batch, heads, n)
    return output, lse


def merged(parts: Iterable[Part]) -> Part:
    """Returns attention to all keys, from attention to disjoint sets of them.

    The weight of a part is exp(its log-sum-exp - the log-sum-exp of all), as in Hydragen (arXiv:2402.05099).
    """
    (output, lse), *others = parts
    if not others:
        return output, lse
    total = output.to(lse.dtype)
    for other, other_lse in others:
        total = torch.lerp(total, other.to(lse.dtype), torch.sigmoid(other_lse - lse)[..., None])
        lse = torch.logaddexp(lse, other_lse)
    return total.to(output.dtype), lse


def share_left(lse: Tensor, sinks: Tensor) -> Tensor:
    """Returns what is left of attention, [batch, heads, n, 1], if each head has a sink, a score that gives nothing."""
    return torch.sigmoid(lse - sinks.to(lse.dtype)[:, None])[..., None]


def additive(mask: Tensor, dtype: torch.dtype) -> Tensor:
    """Returns a boolean mask as numbers to add to scores, in rows that begin where kernels for GPUs want them to.

    Half the least number stays finite whatever a kernel does to it, so that a row without a key does not become NaN.
    """
    *rows, n = mask.shape
    numbers = torch.zeros(*rows, n + -n % (2 * ALIGNED), dtype=dtype, device=mask.device)[..., :n]
    return numbers.masked_fill_(~mask, torch.finfo(dtype).min / 2)


def _kernel(
    query: Tensor, key: Tensor, value: Tensor, scale: float, mask: Tensor | None, causal: bool, softcap: float | None
) -> Part:
    """Returns what the fastest kernel gives that takes such tensors."""
    kind, size = query.device.type, value.shape[-1]
    if softcap is not None or kind not in ("cpu", "cuda"):
        return _explicit(query, key, value, scale, mask, causal, softcap)
    wide = max(query.shape[-1], size)
    wide += -wide % ALIGNED if kind == "cuda" else 0
    query, key, value = (x if x.shape[-1] == wide else pad(x, (0, wide - x.shape[-1])) for x in (query, key, value))
    part = None
    if kind == "cpu":
        part = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu(
            query, key, value, 0.0, causal, attn_mask=mask, scale=scale
        )
    elif mask is None and can_use_flash_attention(SDPAParams(query, key, value, None, 0.0, causal, True)):
        part = torch.ops.aten._scaled_dot_product_flash_attention(query, key, value, 0.0, causal, scale=scale)[:2]
    else:
        part = _efficient(query, key, value, scale, mask, causal)
    if part is None:
        part = _explicit(query, key, value, scale, mask, causal, None)
    return part[0][..., :size], part[1]


def _efficient(
    query: Tensor, key: Tensor, value: Tensor, scale: float, mask: Tensor | None, causal: bool
) -> Part | None:
    """Returns what the kernel for GPUs gives that takes masks and float32; None if it does not take such tensors."""
    batch, n = query.shape[0], query.shape[2]
    if mask is not None:
        mask = _of_heads(mask, query, key)
        if any(stride % (2 * ALIGNED) for stride in mask.stride()[:3]):
            mask = pad(mask, (0, -mask.shape[-1] % (2 * ALIGNED)))[..., : mask.shape[-1]]
    query, key, value = _apart(query, key, value)
    if not can_use_efficient_attention(SDPAParams(query, key, value, mask, 0.0, causal, False)):
        return None
    output, lse, *_ = torch.ops.aten._scaled_dot_product_efficient_attention(
        query, key, value, mask, True, 0.0, causal, scale=scale
    )
    return _together(output, lse[..., :n], batch)


def _explicit(
    query: Tensor, key: Tensor, value: Tensor, scale: float, mask: Tensor | None, causal: bool, softcap: float | None
) -> Part:
    """Returns attention by its definition, without the kernels of torch, for some queries at a time."""
    batch, heads, n, _ = query.shape
    m = key.shape[2]
    if causal:
        mask = additive(torch.ones(n, m, dtype=torch.bool, device=query.device).tril(), query.dtype)[None, None]
    if mask is not None:
        mask = _of_heads(mask, query, key)
    query, key, value = _apart(query, key, value)
    parts = []
    for begin in range(0, n, step := max(1, SCORES // (batch * heads * m))):
        scores = query[:, :, begin : begin + step] @ key.mT * scale
        scores = scores.to(torch.promote_types(scores.dtype, torch.float32))
        if softcap is not None:
            scores = scores.div_(softcap).tanh_().mul_(softcap)
        if mask is not None:
            scores += mask[:, :, begin : begin + step]
        lse = scores.logsumexp(dim=-1)
        parts.append((scores.sub_(lse[..., None]).exp_().to(value.dtype) @ value, lse))
    return _together(torch.cat([o for o, _ in parts], dim=2), torch.cat([lse for _, lse in parts], dim=2), batch)


def _apart(query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Returns queries, keys and values, [batch x key heads, heads per key head, ...]; keys are repeated, not copied.

    If heads share no keys, nothing changes: keys may be slots of a cache, which would be copied.
    """
    if query.shape[1] == key.shape[1]:
        return query, key, value
    key_heads, groups = key.shape[1], query.shape[1] // key.shape[1]
    key, value = (x.flatten(0, 1)[:, None].expand(-1, groups, -1, -1) for x in (key, value))
    return query.unflatten(1, (key_heads, groups)).flatten(0, 1), key, value


def _of_heads(mask: Tensor, query: Tensor, key: Tensor) -> Tensor:
    """Returns the mask for what `_apart` gives; copied only if it differs within the batch."""
    (batch, heads, n, _), key_heads = query.shape, key.shape[1]
    if heads == key_heads:
        return mask.expand(batch, heads, n, -1)
    mask = mask if len(mask) == 1 else mask.repeat_interleave(key_heads, dim=0)
    return mask.expand(batch * key_heads, heads // key_heads, n, -1)


def _together(output: Tensor, lse: Tensor, batch: int) -> Part:
    return output.unflatten(0, (batch, -1)).flatten(1, 2), lse.unflatten(0, (batch, -1)).flatten(1, 2)
