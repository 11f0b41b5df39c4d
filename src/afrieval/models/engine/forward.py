"""A forward pass over tokens that each see tokens of their own: what the engine asks of a model."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch

from afrieval.models.engine.buffer_cache import BufferCache

FULL, SLIDING = "full_attention", "sliding_attention"


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
        config = lm.model.config.get_text_config(decoder=True)
        # on a CPU, sdpa would turn a boolean mask into numbers again in every layer
        self._boolean = config._attn_implementation == "sdpa" and lm.device.type != "cpu"
        self.cache = BufferCache(config.num_hidden_layers, room)

    def __call__(
        self, tokens: torch.Tensor, depth: torch.Tensor, sees: torch.Tensor, key_depth: torch.Tensor, at: list[int]
    ) -> torch.Tensor:
        """Returns the logits at some of the tokens, and keeps the keys and values of all.

        Args:
            tokens: ids of new tokens, [new].
            depth: their positions, [new].
            sees: whether a new token sees a cached or a new one, [new, cached + new].
            key_depth: the positions of cached and new tokens.
            at: numbers of the new tokens whose logits are wanted; a list, since a tensor would have to be on the
                device of the model's last layer.

        Returns:
            Logits, [len(at), vocabulary].
        """
        with inference(self._lm):
            logits: torch.Tensor = self._lm.model(
                input_ids=tokens[None],
                position_ids=depth[None],
                attention_mask=self._mask(sees, depth, key_depth),
                past_key_values=self.cache,
                use_cache=True,
                logits_to_keep=at or [0],  # some output layers take no empty input
            ).logits[0, : len(at)]
        return logits

    def _mask(self, sees: torch.Tensor, depth: torch.Tensor, key_depth: torch.Tensor) -> Any:
        masks = {}
        for name in self._kinds.names:
            near = depth[:, None] - key_depth < self._kinds.window if name == SLIDING else None
            masks[name] = self._written(sees if near is None else sees & near)[None, None]
        return masks if len(masks) > 1 else next(iter(masks.values()))

    def _written(self, sees: torch.Tensor) -> torch.Tensor:
        """Returns a mask as the model's attention reads it."""
        if self._boolean:
            return sees
        dtype = self._lm.model.dtype
        return torch.zeros(sees.shape, dtype=dtype, device=sees.device).masked_fill_(~sees, torch.finfo(dtype).min)
