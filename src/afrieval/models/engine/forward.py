"""Runs a decoder-only model on a pack of tokens, each of which sees its own choice of earlier tokens."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from functools import cache as cached
from functools import partial
from typing import Any, Protocol

import torch
from torch import Tensor

from afrieval.models.engine.attention import attention_by, kind_of, placeholder
from afrieval.models.engine.caches import ROW, PathCache, RowLayout, cache_name, has_states
from afrieval.models.engine.products import layers_for_onednn, onednn
from afrieval.models.engine.requests import EngineModel

FULL, SLIDING = "full_attention", "sliding_attention"
HYBRID = {"hybrid": FULL, "hybrid_sliding": SLIDING}  # layers with attention and a state
OTHERS = ("linear_attention", "conv", "moe", "mlp")  # those without attention
CHUNK = 32  # tokens that layers with states compute at a time on a CPU, short sequences padded to as many


class Visibility(Protocol):
    """Which cached and new tokens the tokens of a pass see, and how attention to them is computed."""

    def whole(self, window: int, device: torch.device) -> Tensor:
        """Returns what is seen of all keys within a window, [new tokens, keys]; all if that is 0."""

    def parts(self, window: int, dtype: torch.dtype, device: torch.device) -> Callable[..., Tensor]:
        """Returns what computes attention in parts from queries, keys, values, and scale, softcap and sinks by name."""


def windows(model: Any) -> dict[str, int]:
    """Returns how many tokens back the layers of a decoder-only model look, by their kinds in order; 0 for all.

    Layers without attention are left out.
    """
    config = model.config.get_text_config(decoder=True)
    window = getattr(config, "sliding_window", None) or 0
    types = getattr(config, "layer_types", None) or [SLIDING if window else FULL]
    if has_states(model):
        types = [HYBRID.get(name, name) for name in types if name not in OTHERS]
    return {name: window if name == SLIDING else 0 for name in sorted(set(types))}


@contextmanager
def inference(lm: EngineModel) -> Iterator[None]:
    """Runs what is inside as the harness runs a model: without gradients, in mixed precision if asked for."""
    mixed = lm.mixed_precision_dtype
    with torch.no_grad(), torch.autocast(lm.device.type, mixed, mixed is not None):
        yield


class Forward:
    """Runs a model over packs of tokens, with a cache."""

    def __init__(self, lm: EngineModel, cache: PathCache):
        self._lm, self._windows, self._cache = lm, windows(lm.model), cache
        self._config = lm.model.config.get_text_config(decoder=True)
        # on a CPU, sdpa would turn a boolean mask into numbers again in every layer
        self._boolean = self._config._attn_implementation == "sdpa" and lm.device.type != "cpu"
        self._has_states = has_states(lm.model)
        self._products = layers_for_onednn(lm)
        chunked = lm.model.modules() if self._has_states and lm.device.type == "cpu" else ()
        self._chunked = {layer: CHUNK for layer in chunked if getattr(layer, "chunk_size", 0) > CHUNK}

    def __call__(
        self, tokens: Tensor, depth: Tensor, seen: Visibility, chosen: list[int], rows: RowLayout = ROW
    ) -> Tensor:
        """Returns the logits at some of the tokens, and keeps the keys and values of all.

        Args:
            tokens: ids of new tokens, [new].
            depth: their positions, [new].
            seen: which cached and new tokens they see.
            chosen: numbers of the new tokens whose logits are wanted; a list, since a tensor would have to be on the
                device of the model's last layer.
            rows: how they are laid out for layers with states.

        Returns:
            Logits, [len(chosen), vocabulary].
        """
        back = list(self._windows.values())
        if self._lm.attention == "masks":
            masks = [seen.whole(window, tokens.device) for window in back]
            return self._run(tokens, depth, [self._written(mask)[None, None] for mask in masks], chosen, rows)
        stand_ins = [placeholder(i, self._lm.model.dtype, tokens.device) for i in range(len(back))]
        computed = partial(_attention, cached(seen.parts), back, rows)
        with attention_by(self._config, computed), _in_chunks(self._chunked):
            return self._run(tokens, depth, stand_ins, chosen, rows)

    def _run(self, tokens: Tensor, depth: Tensor, masks: list[Tensor], chosen: list[int], rows: RowLayout) -> Tensor:
        named: dict[str, Any] = dict(zip(self._windows, masks, strict=True))
        if self._has_states:
            named |= {kind: named.get(of) for kind, of in HYBRID.items()} | dict.fromkeys(OTHERS)
        ids, positions = (rows.split(x[None, None, :, None])[:, 0, :, 0] for x in (tokens, depth))
        numbers = rows.numbers(chosen or [0])  # some output layers take no empty input
        side_by_side = len(ids) > 1
        head = self._lm.model.get_output_embeddings()
        with inference(self._lm), onednn(self._products), _only(head, numbers) if side_by_side else nullcontext():
            logits: Tensor = self._lm.model(
                input_ids=ids,
                position_ids=positions,
                attention_mask=named if len(named) > 1 else masks[0],
                use_cache=True,
                logits_to_keep=0 if side_by_side else numbers,
                **{cache_name(self._lm.model): self._cache},
            ).logits[0, : len(chosen)]
        return logits

    def _written(self, sees: Tensor) -> Tensor:
        if self._boolean:
            return sees
        dtype = self._lm.model.dtype
        return torch.zeros(sees.shape, dtype=dtype, device=sees.device).masked_fill_(~sees, torch.finfo(dtype).min)


def _attention(
    parts: Callable[[int, torch.dtype, torch.device], Callable[..., Tensor]],
    back: list[int],
    rows: RowLayout,
    layer: Any,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: Tensor,
    *,
    scaling: float | None = None,
    softcap: float | None = None,
    s_aux: Tensor | None = None,
    position_bias: Tensor | None = None,
    **others: Any,
) -> tuple[Tensor, None]:
    """Returns what a layer gets for its queries, keys and values, [batch, tokens, heads, d_v], and no weights."""
    if position_bias is not None:
        raise ValueError("scores depend on more than queries and keys (position_bias)")
    if torch.is_autocast_enabled(query.device.type):
        dtype = torch.get_autocast_dtype(query.device.type)
        query, key, value = query.to(dtype), key.to(dtype), value.to(dtype)
    compute = parts(back[kind_of(attention_mask)], query.dtype, query.device)
    scale = query.shape[-1] ** -0.5 if scaling is None else scaling
    output = compute(rows.joined(query), key, value, scale=scale, softcap=softcap, sinks=s_aux)
    return rows.split(output).transpose(
        1, 2
    ).contiguous(), None  # as transformers' own do; some models take views of it


@contextmanager
def _in_chunks(sizes: dict[Any, int]) -> Iterator[None]:
    """Makes some layers compute so many tokens at a time, which changes nothing else."""
    before = {layer: layer.chunk_size for layer in sizes}
    try:
        for layer, size in sizes.items():
            layer.chunk_size = size
        yield
    finally:
        for layer, size in before.items():
            layer.chunk_size = size


@contextmanager
def _only(head: Any, tokens: list[int]) -> Iterator[None]:
    """Makes a model's output layer compute logits at some tokens, numbered row behind row: [1, tokens, vocabulary]."""
    handle = head.register_forward_pre_hook(lambda layer, inputs: (inputs[0].flatten(0, 1)[None, tokens],))
    try:
        yield
    finally:
        handle.remove()
