"""A forward pass over tokens that each see tokens of their own: what the engine asks of a model."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, partial
from typing import Any, NamedTuple

import torch

from afrieval.models.engine.attention import attention_by, kind_of, placeholder
from afrieval.models.engine.buffer_cache import BufferCache
from afrieval.models.engine.tiles import Tile, View, attention, tiles

FULL, SLIDING = "full_attention", "sliding_attention"


class Seen(NamedTuple):
    """Which tokens are seen where any may see any other, as when answers are generated.

    Attributes:
        sees: whether a new token sees a cached or a new one, [new, cached + new].
        depth: the positions of cached and new tokens.
    """

    sees: torch.Tensor
    depth: torch.Tensor

    def whole(self, window: int, device: torch.device) -> torch.Tensor:
        """Returns what is seen within a window; all if that is 0."""
        back = self.depth[-len(self.sees) :, None] - self.depth
        return (self.sees & (back < window) if window else self.sees).to(device)


@dataclass(frozen=True)
class Kinds:
    """What a model's layers look at: all tokens before, those in a window, or some layers this and others that."""

    names: tuple[str, ...]
    window: int


def kinds(model: Any) -> Kinds:
    """Returns what the layers of a decoder-only model look at."""
    config = model.config.get_text_config(decoder=True)
    window = getattr(config, "sliding_window", None) or 0
    types = getattr(config, "layer_types", None) or [SLIDING if window else FULL]
    return Kinds(tuple(sorted(set(types))), window)


@contextmanager
def inference(lm: Any) -> Iterator[None]:
    """Runs what is inside as the harness runs a model: without gradients, in mixed precision if asked for."""
    mixed = lm.mixed_precision_dtype
    with torch.no_grad(), torch.autocast(lm.device.type, mixed, mixed is not None):
        yield


class Forward:
    """Runs a model over packs of tokens, with a cache.

    Args:
        lm: a model of the harness' hf backend.
        room: tokens in the cache, those of a pack included.
    """

    def __init__(self, lm: Any, room: int):
        self._lm, self._kinds = lm, kinds(lm.model)
        self._config = lm.model.config.get_text_config(decoder=True)
        # on a CPU, sdpa would turn a boolean mask into numbers again in every layer
        self._boolean = self._config._attn_implementation == "sdpa" and lm.device.type != "cpu"
        self.cache = BufferCache(self._config.num_hidden_layers, room)

    def __call__(self, tokens: torch.Tensor, depth: torch.Tensor, seen: View | Seen, at: list[int]) -> torch.Tensor:
        """Returns the logits at some of the tokens, and keeps the keys and values of all.

        Args:
            tokens: ids of new tokens, [new].
            depth: their positions, [new].
            seen: which cached and new tokens they see.
            at: numbers of the new tokens whose logits are wanted; a list, since a tensor would have to be on the
                device of the model's last layer.

        Returns:
            Logits, [len(at), vocabulary].
        """
        if isinstance(seen, Seen) or self._lm.attention == "masks":
            masks = [seen.whole(window, tokens.device) for window in self._windows]
            return self._run(tokens, depth, [self._written(mask)[None, None] for mask in masks], at)
        stand_ins = [placeholder(i, self._lm.model.dtype, tokens.device) for i in range(len(self._windows))]
        with attention_by(self._config, partial(_attention, cache(partial(tiles, seen)), self._windows)):
            return self._run(tokens, depth, stand_ins, at)

    @property
    def _windows(self) -> list[int]:
        """How far back the layers of each kind look; 0 stands for all."""
        return [self._kinds.window if name == SLIDING else 0 for name in self._kinds.names]

    def _run(self, tokens: torch.Tensor, depth: torch.Tensor, masks: list[torch.Tensor], at: list[int]) -> torch.Tensor:
        named = dict(zip(self._kinds.names, masks, strict=True))
        with inference(self._lm):
            logits: torch.Tensor = self._lm.model(
                input_ids=tokens[None],
                position_ids=depth[None],
                attention_mask=named if len(named) > 1 else masks[0],
                past_key_values=self.cache,
                use_cache=True,
                logits_to_keep=at or [0],  # some output layers take no empty input
            ).logits[0, : len(at)]
        return logits

    def _written(self, sees: torch.Tensor) -> torch.Tensor:
        """Returns a mask as the model's attention reads it."""
        if self._boolean:
            return sees
        dtype = self._lm.model.dtype
        return torch.zeros(sees.shape, dtype=dtype, device=sees.device).masked_fill_(~sees, torch.finfo(dtype).min)


def _attention(
    planned: Callable[[int, torch.dtype, torch.device], list[Tile]],
    windows: list[int],
    layer: Any,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attention_mask: torch.Tensor,
    *,
    scaling: float | None = None,
    softcap: float | None = None,
    s_aux: torch.Tensor | None = None,
    position_bias: torch.Tensor | None = None,
    **others: Any,
) -> tuple[torch.Tensor, None]:
    """Returns what a layer gets for its queries, keys and values, [batch, tokens, heads, d_v], and no weights."""
    if position_bias is not None:
        raise ValueError("scores depend on more than queries and keys (position_bias)")
    if torch.is_autocast_enabled(query.device.type):
        dtype = torch.get_autocast_dtype(query.device.type)
        query, key, value = query.to(dtype), key.to(dtype), value.to(dtype)
    found = planned(windows[kind_of(attention_mask)], query.dtype, query.device)
    scale = query.shape[-1] ** -0.5 if scaling is None else scaling
    output = attention(query, key, value, found, scale=scale, softcap=softcap, sinks=s_aux)
    return output.transpose(1, 2), None
