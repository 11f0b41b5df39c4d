"""Keys and values of answers that are written side by side: their prompts' beginning once, the rest in equal slots."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
from transformers.cache_utils import Cache, CacheLayerMixin

SHARED = -1


class Segment(NamedTuple):
    """Tokens that follow each other, read in one pass.

    Attributes:
        slot: where they belong; `SHARED` for the beginning of all prompts.
        before: how many tokens that place has already.
        tokens: their ids.
    """

    slot: int
    before: int
    tokens: list[int]


@dataclass(frozen=True)
class Layout:
    """Where keys are: those of the shared beginning first, then slot by slot.

    Attributes:
        shared: tokens of the beginning.
        slots: number of slots.
        room: tokens that a slot has room for.
    """

    shared: int
    slots: int
    room: int

    @property
    def size(self) -> int:
        """Number of keys."""
        return self.shared + self.slots * self.room

    def start(self, slot: int) -> int:
        """Returns where the keys of a place begin."""
        return 0 if slot == SHARED else self.shared + slot * self.room


class SlotLayer(CacheLayerMixin):
    """One layer's keys and values, each written to its place."""

    is_sliding = False

    def __init__(self, size: int):
        super().__init__()
        self.size, self.at = size, torch.empty(0, dtype=torch.long)

    def lazy_initialization(self, key_states: torch.Tensor, value_states: torch.Tensor) -> None:
        """Makes the buffers, on the layer's own device; empty places are multiplied by 0 and must hold numbers."""
        self.keys, self.values = (
            states.new_zeros(*states.shape[:2], self.size, states.shape[3]) for states in (key_states, value_states)
        )
        self.is_initialized = True

    def update(
        self, key_states: torch.Tensor, value_states: torch.Tensor, *args: Any, **kwargs: Any
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Writes the keys and values of new tokens, and returns those of all places."""
        if not self.is_initialized:
            self.lazy_initialization(key_states, value_states)
        at = self.at.to(self.keys.device)
        self.keys.index_copy_(2, at, key_states)
        self.values.index_copy_(2, at, value_states)
        return self.keys, self.values

    def get_seq_length(self) -> int:
        """Returns how many keys there are."""
        return self.size

    def get_mask_sizes(self, query_length: int) -> tuple[int, int]:
        """Returns how many keys the next tokens meet, and the number of the first."""
        return self.size, 0

    def get_max_length(self) -> int:
        """Returns how many keys there is room for."""
        return self.size


class SlotCache(Cache):
    """The cache of a model with `layers` layers."""

    def __init__(self, layers: int, size: int):
        super().__init__(layers=[SlotLayer(size) for _ in range(layers)])

    def write_at(self, at: torch.Tensor) -> None:
        """Says where the keys and values of the next pass belong."""
        for layer in self.layers:
            layer.at = at
