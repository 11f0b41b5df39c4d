"""Caches of keys and values for transformers' layers: of a path through a tree, and of answers side by side."""

import inspect
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
from torch import Tensor
from transformers.cache_utils import Cache, CacheLayerMixin


def cache_name(model: Any) -> str:
    """Returns the argument that a model takes its cache by: transformers 5.24 has renamed it in most models."""
    inner = model.get_base_model() if hasattr(model, "get_base_model") else model
    return "cache" if "cache" in inspect.signature(inner.forward).parameters else "past_key_values"


class _FixedLayer(CacheLayerMixin):
    """One layer's keys and values, in buffers that have room for a number of tokens."""

    is_sliding = False

    def __init__(self, room: int):
        super().__init__()
        self.room = room

    def lazy_initialization(self, key_states: Tensor, value_states: Tensor) -> None:
        """Makes the buffers, on the layer's own device; empty places are multiplied by 0 and must hold numbers."""
        self.keys, self.values = (
            states.new_zeros(*states.shape[:2], self.room, states.shape[3]) for states in (key_states, value_states)
        )
        self.is_initialized = True

    def get_max_length(self) -> int:
        """Returns how many tokens there is room for."""
        return self.room

    get_max_cache_shape = get_max_length  # its name in older versions of transformers


class BufferLayer(_FixedLayer):
    """One layer's keys and values; new ones are written behind the old ones, which stay where they are."""

    length = 0

    def update(self, key_states: Tensor, value_states: Tensor, *args: Any, **kwargs: Any) -> tuple[Tensor, Tensor]:
        """Writes the keys and values of new tokens, and returns all keys and values."""
        if not self.is_initialized:
            self.lazy_initialization(key_states, value_states)
        begin, self.length = self.length, self.length + key_states.shape[2]
        self.keys[:, :, begin : self.length] = key_states
        self.values[:, :, begin : self.length] = value_states
        return self.keys[:, :, : self.length], self.values[:, :, : self.length]

    def move(self, index: Tensor, to: int) -> None:
        """Moves the tokens of an index to a place before them, in their order."""
        if self.is_initialized:
            for buffer in (self.keys, self.values):
                buffer[:, :, to : to + len(index)] = buffer[:, :, index.to(buffer.device)]

    def get_seq_length(self) -> int:
        """Returns how many tokens are there."""
        return self.length

    def get_mask_sizes(self, query_length: int) -> tuple[int, int]:
        """Returns how many keys the next tokens meet, and the number of the first."""
        return self.length + query_length, 0


class BufferCache(Cache):
    """The cache of a model with `layers` layers and room for `room` tokens."""

    def __init__(self, layers: int, room: int):
        super().__init__(layers=[BufferLayer(room) for _ in range(layers)])
        self.room = room

    def crop(self, length: int) -> None:
        """Forgets all tokens but the first, and those that a forward pass left in some layers before it broke off."""
        for layer in self.layers:
            layer.length = min(length, layer.length)

    def keep(self, index: Tensor) -> None:
        """Keeps only the tokens of an increasing index."""
        moved = torch.nonzero(index != torch.arange(len(index), device=index.device))[:, 0]
        if len(moved):
            first = int(moved[0])
            for layer in self.layers:
                layer.move(index[first:], first)
        self.crop(len(index))


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
    """Where keys are: first the keys of the shared beginning, then slot by slot.

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


class SlotLayer(_FixedLayer):
    """One layer's keys and values, each written to its place."""

    positions: Tensor

    def update(self, key_states: Tensor, value_states: Tensor, *args: Any, **kwargs: Any) -> tuple[Tensor, Tensor]:
        """Writes the keys and values of new tokens, and returns the keys and values of all places."""
        if not self.is_initialized:
            self.lazy_initialization(key_states, value_states)
        positions = self.positions.to(self.keys.device)
        self.keys.index_copy_(2, positions, key_states)
        self.values.index_copy_(2, positions, value_states)
        return self.keys, self.values

    def get_seq_length(self) -> int:
        """Returns how many keys there are."""
        return self.room

    def get_mask_sizes(self, query_length: int) -> tuple[int, int]:
        """Returns how many keys the next tokens meet, and the number of the first."""
        return self.room, 0


class SlotCache(Cache):
    """The cache of a model with `layers` layers."""

    def __init__(self, layers: int, size: int):
        super().__init__(layers=[SlotLayer(size) for _ in range(layers)])

    def write_at(self, positions: Tensor) -> None:
        """Says where the keys and values of the next pass belong."""
        for layer in self.layers:
            layer.positions = positions
