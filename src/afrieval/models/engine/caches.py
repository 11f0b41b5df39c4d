"""Caches for transformers' layers: keys and values in places of our choice, and states of recurrent layers."""

import inspect
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import pad
from transformers.cache_utils import (
    DYNAMIC_LAYER_TYPE_MAPPING,
    Cache,
    CacheLayerMixin,
    DynamicCache,
    LinearAttentionCacheLayerMixin,
    LinearAttentionLayer,
)

Index: TypeAlias = slice | Tensor


def cache_name(model: Any) -> str:
    """Returns the argument that a model takes its cache by: transformers 5.24 has renamed it in most models.

    XLM's `cache` is a dictionary of its own.
    """
    inner = model.get_base_model() if hasattr(model, "get_base_model") else model
    cache = inspect.signature(inner.forward).parameters.get("cache")
    return "cache" if cache is not None and "Cache" in str(cache.annotation) else "past_key_values"


def has_states(model: Any) -> bool:
    """Returns whether some layers of a decoder-only model keep a state instead of, or next to, keys and values."""
    kinds = getattr(model.config.get_text_config(decoder=True), "layer_types", None) or ()
    return any(
        issubclass(DYNAMIC_LAYER_TYPE_MAPPING.get(kind, Cache), LinearAttentionCacheLayerMixin) for kind in kinds
    )


class RowLayout(NamedTuple):
    """How the tokens of a pass are laid out for layers with states: sequences side by side, padded on the right.

    Attributes:
        number: of rows.
        length: of each.
        real: numbers of the tokens in the rows, counted row behind row; None if no row is padded.
    """

    number: int = 1
    length: int = -1
    real: Tensor | None = None

    @classmethod
    def of(cls, lengths: Sequence[int], device: torch.device) -> "RowLayout":
        """Returns the rows of sequences of some lengths, of two tokens at least: see `TreeBranch.cut`."""
        longest = max(2, *lengths)
        if min(lengths) == longest:
            return cls(len(lengths), longest)
        steps = [i * longest + np.arange(length) for i, length in enumerate(lengths)]
        return cls(len(lengths), longest, torch.from_numpy(np.concatenate(steps)).to(device))

    def joined(self, states: Tensor) -> Tensor:
        """Returns what tokens in rows have, [rows, heads, length, d], row behind row, [1, heads, tokens, d]."""
        if self.number > 1:
            states = states.transpose(0, 1).flatten(1, 2)[None]
        return states if self.real is None else states[:, :, self.real.to(states.device)]

    def split(self, states: Tensor) -> Tensor:
        """Returns what `joined` returned as it was, with zeros where there is no token."""
        if self.real is not None:
            padded = states.new_zeros(*states.shape[:2], self.number * self.length, states.shape[3])
            states = padded.index_copy_(2, self.real.to(states.device), states)
        return states if self.number == 1 else states[0].unflatten(1, (self.number, self.length)).transpose(0, 1)

    def numbers(self, tokens: list[int]) -> list[int]:
        """Returns the numbers in the rows of some tokens of the pass."""
        return tokens if self.real is None else self.real[tokens].tolist()


ROW = RowLayout()


class KeyLayer(CacheLayerMixin):
    """One layer's keys and values, in buffers that have room for a number of tokens.

    Attributes:
        room: tokens that there is room for.
        write: where the keys of a pass belong.
        visible: how many of the first places hold keys then.
        rows: how the tokens of a pass are laid out.
    """

    is_sliding = False
    write: Index = slice(0)
    visible = 0
    rows = ROW

    def __init__(self, room: int):
        super().__init__()
        self.room = room

    def lazy_initialization(self, key_states: Tensor, value_states: Tensor) -> None:
        """Makes the buffers, on the layer's own device; empty places are multiplied by 0 and must hold numbers."""
        self.keys, self.values = (
            states.new_zeros(1, states.shape[1], self.room, states.shape[3]) for states in (key_states, value_states)
        )
        self.is_initialized = True

    def update(self, key_states: Tensor, value_states: Tensor, *args: Any, **kwargs: Any) -> tuple[Tensor, Tensor]:
        """Writes the keys and values of new tokens, and returns all keys and values, [1, heads, visible, d]."""
        if not self.is_initialized:
            KeyLayer.lazy_initialization(self, key_states, value_states)
        for buffer, states in ((self.keys, key_states), (self.values, value_states)):
            if isinstance(self.write, slice):
                buffer[:, :, self.write] = self.rows.joined(states)
            else:
                buffer.index_copy_(2, self.write.to(buffer.device), self.rows.joined(states))
        return self.keys[:, :, : self.visible], self.values[:, :, : self.visible]

    def grow(self, room: int) -> None:
        """Makes room for more tokens."""
        if self.is_initialized:
            self.keys, self.values = (pad(buffer, (0, 0, 0, room - self.room)) for buffer in (self.keys, self.values))
        self.room = room

    def widen(self, layout: "Layout", wider: "Layout") -> None:
        """Moves keys and values to a layout with more room in each slot."""
        if self.is_initialized:
            self.keys, self.values = (layout.widened(buffer, wider) for buffer in (self.keys, self.values))
        self.room = wider.size

    def move(self, index: Tensor, to: int) -> None:
        """Moves the tokens of an index to a place before them, in their order."""
        if self.is_initialized:
            for buffer in (self.keys, self.values):
                buffer[:, :, to : to + len(index)] = buffer[:, :, index.to(buffer.device)]

    def get_seq_length(self) -> int:
        """Returns how many tokens are there."""
        return self.visible

    def get_max_length(self) -> int:
        """Returns how many tokens there is room for."""
        return self.room

    get_max_cache_shape = get_max_length  # its name in older versions of transformers

    def get_mask_sizes(self, query_length: int) -> tuple[int, int]:
        """Returns how many keys the tokens of a pass meet, and the number of the first."""
        return self.visible, 0


class StateLayer(LinearAttentionLayer):
    """One layer's recurrent and convolutional states, of which a pass continues some, a row each.

    Attributes:
        stored: states that are kept, by kind and number, [places, ...].
    """

    def __init__(self, number_of_states: int = 1):
        LinearAttentionLayer.__init__(self, number_of_states=number_of_states)
        self.stored: dict[tuple[str, int], Tensor] = {}

    def load(self, index: Index | None) -> None:
        """Sets what a pass continues; a slice is not copied, so that the pass changes what is stored."""
        for kind in ("conv", "recurrent"):
            for i in range(self.number_of_states):
                stored = None if index is None else self.stored.get((kind, i))
                getattr(self, f"{kind}_states")[i] = None if stored is None else stored[_local(index, stored)]
                getattr(self, f"is_{kind}_states_initialized")[i] = stored is not None
        self.has_previous_state = dict.fromkeys(range(self.number_of_states), index is not None)

    def store(self, index: Index, room: int) -> None:
        """Stores what a pass has left, with room for so many."""
        for kind in ("conv", "recurrent"):
            for i, states in getattr(self, f"{kind}_states").items():
                if states is None:
                    continue
                stored = self.stored.get((kind, i))
                if stored is None or len(stored) < room:
                    larger = states.new_zeros(room, *states.shape[1:])
                    if stored is not None:
                        larger[: len(stored)] = stored
                    self.stored[kind, i] = stored = larger
                if states._base is not stored:
                    stored[_local(index, stored)] = states


def _local(index: Index, states: Tensor) -> Index:
    return index if isinstance(index, slice) else index.to(states.device)


class KeyStateLayer(StateLayer, KeyLayer):
    """A layer with keys, values and states."""

    def __init__(self, room: int, number_of_states: int = 1):
        KeyLayer.__init__(self, room)
        StateLayer.__init__(self, number_of_states)

    def lazy_initialization(self, *args: Any, **kwargs: Any) -> None:
        """Makes buffers of states; those of keys are made by `update`."""
        LinearAttentionLayer.lazy_initialization(self, *args, **kwargs)


class PathCache(Cache):
    """The cache of a model; `write_at` says where the keys of the next pass belong."""

    def __init__(self, model: Any, room: int):
        super().__init__(layers=[*_layers(model, room)])
        self.room = room

    def write_at(self, index: Index, visible: int, rows: RowLayout = ROW) -> None:
        """Sets where the keys of the next pass belong; see `KeyLayer`. Where there is too little room, more is made."""
        self.room = max(self.room, visible)
        for layer in self.layers:
            if isinstance(layer, KeyLayer):
                layer.write, layer.visible, layer.rows = index, visible, rows
                if layer.room < visible:
                    layer.grow(visible)

    def widen(self, layout: "Layout", wider: "Layout") -> None:
        """Moves keys and values to a layout with more room in each slot, layer by layer."""
        for layer in self.layers:
            if isinstance(layer, KeyLayer):
                layer.widen(layout, wider)
        self.room = wider.size

    def keep(self, index: Tensor) -> None:
        """Moves the tokens of an increasing index to the front."""
        moved = torch.nonzero(index != torch.arange(len(index), device=index.device))[:, 0]
        if len(moved):
            first = int(moved[0])
            for layer in self.layers:
                if isinstance(layer, KeyLayer):
                    layer.move(index[first:], first)

    def load(self, index: Index | None) -> None:
        """Sets the states that the rows of the next pass continue; None for none."""
        for layer in self.layers:
            if isinstance(layer, StateLayer):
                layer.load(index)

    def store(self, index: Index, room: int) -> None:
        """Stores the states that a pass has left, with room for so many."""
        for layer in self.layers:
            if isinstance(layer, StateLayer):
                layer.store(index, room)


def _layers(model: Any, room: int) -> Iterator[Any]:
    config = model.config.get_text_config(decoder=True)
    if not has_states(model):
        yield from (KeyLayer(room) for _ in range(config.num_hidden_layers))
        return
    for usual in DynamicCache(config=config).layers:
        with_keys, with_states = (isinstance(usual, kind) for kind in (CacheLayerMixin, LinearAttentionCacheLayerMixin))
        if with_states:
            n = usual.number_of_states
            yield KeyStateLayer(room, n) if with_keys else StateLayer(n)
        else:
            yield KeyLayer(room) if with_keys else usual


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

    def of_slots(self, states: Tensor) -> Tensor:
        """Returns keys or values of the slots, [slots, key heads, room, d], from all of a layer's, of one row."""
        return states[0, :, self.shared :].unflatten(1, (self.slots, self.room)).transpose(0, 1)

    def widened(self, states: Tensor, wider: "Layout") -> Tensor:
        """Returns a layer's keys or values in a layout with more room in each slot, and zeros there."""
        moved = states.new_zeros(*states.shape[:2], wider.size, states.shape[3])
        moved[:, :, : self.shared] = states[:, :, : self.shared]
        wider.of_slots(moved)[:, :, : self.room] = self.of_slots(states)
        return moved
