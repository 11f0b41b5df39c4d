"""How the layers of a model are given another way to compute attention, without a change of their code."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from transformers import AttentionInterface

Attention = Callable[..., tuple[torch.Tensor, None]]
FIRST = 2  # rows of the first placeholder: a mask of one row would be applied to all tokens


@contextmanager
def attention_by(config: Any, function: Attention) -> Iterator[None]:
    """Makes the layers of a model call a function for attention, as transformers calls its own.

    Args:
        config: of the model's decoder; layers look up there whom to call.
        function: takes a layer, queries, keys, values, the layer's mask, and options by name.
    """
    own, name = config._attn_implementation, f"afrieval-{id(function)}"
    AttentionInterface.register(name, function)
    config._attn_implementation = {"": name}  # not of its parts that see images or hear
    try:
        yield
    finally:
        config._attn_implementation = {"": own}
        AttentionInterface._global_mapping.pop(name)


def placeholder(kind: int, dtype: torch.dtype, device: torch.device) -> torch.Tensor:
    """Returns what stands for a mask that is too large to be made: by its shape, layers of a kind are distinguished.

    It has as many dimensions as masks that transformers hands on to the layers as they are, and is copied from device
    to device with them.
    """
    return torch.zeros(1, 1, FIRST + kind, 1, dtype=dtype, device=device)


def kind_of(mask: torch.Tensor | None) -> int:
    """Returns the kind of layer that a placeholder stands for.

    Raises:
        ValueError: for any other mask.
    """
    if mask is None or mask.shape[:2] != (1, 1) or mask.shape[2] < FIRST or mask.shape[3] != 1:
        raise ValueError("a layer has changed its mask")
    return int(mask.shape[2]) - FIRST
