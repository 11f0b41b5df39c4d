"""How much the engine computes at a time: as much as keeps the processor busy and fits into its memory."""

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import psutil
import torch
from accelerate.utils.memory import should_reduce_batch_size

from afrieval.errors import UserError

log = logging.getLogger("afrieval")

PACK = {"cpu": 512, "cuda": 4096}  # tokens per forward pass; more is no faster
SCORED_BYTES = {"cpu": 2**28, "cuda": 2**31}
SLOTS = {"cpu": 32}  # answers generated side by side; with more, arithmetic takes the time there, not memory
SMALLEST = 16
SHARE = 0.5  # of the free memory


class Packs:
    """The size of packs: found from the device and its free memory, halved when memory runs out all the same.

    Args:
        most: tokens in a pack at most; what keeps the device busy if not given.
        free: returns how many bytes of a device can be had.
    """

    def __init__(self, most: int | None = None, free: Callable[[torch.device], int] | None = None):
        self._most = most
        self._free = free

    def size(self, lm: Any, longest: int) -> int:
        """Returns how many tokens a pack may have beside a sequence as long as the longest."""
        size = self._most or PACK.get(lm.device.type, PACK["cpu"])
        free = SHARE * (self._free or free_memory)(lm.device)
        while size > SMALLEST and needed(lm.model, longest, size) > free:
            size //= 2
        return size

    def scored(self, lm: Any) -> int:
        """Returns how many positions of a pack may be scored: their logits take as much as a small model."""
        vocabulary = int(lm.model.config.get_text_config(decoder=True).vocab_size)
        most = SCORED_BYTES.get(lm.device.type, SCORED_BYTES["cpu"])
        return max(1, most // (int(lm.model.dtype.itemsize) * vocabulary))

    def rows(self, lm: Any, longest: int) -> int:
        """Returns how many answers of at most `longest` tokens, prompts included, to generate side by side."""
        rows: int = lm.max_batch_size
        free = SHARE * (self._free or free_memory)(lm.device)
        return max(1, min(rows, int(free // needed(lm.model, 0, longest))))

    def slots(self, lm: Any, shared: int, own: int) -> int:
        """Returns how many answers to generate side by side.

        Args:
            lm: a model of the harness' hf backend, decoder-only.
            shared: tokens that all their prompts begin with.
            own: tokens of a prompt and its answer after those.
        """
        most: int = min(lm.max_batch_size, SLOTS.get(lm.device.type, lm.max_batch_size))
        free = SHARE * (self._free or free_memory)(lm.device) - needed(lm.model, shared, SMALLEST)
        return max(1, min(most, int(free // needed(lm.model, own, 0))))

    def reduce(self, pack: int, size: int) -> int:
        """Returns how many tokens to take after a pack that was too much; of whole packs, that is for good.

        Raises:
            UserError: if it had few tokens already.
        """
        if pack <= SMALLEST:
            raise too_small(pack)
        if pack == size:
            self._most = size // 2
        if torch.cuda.is_available():
            torch.cuda.empty_cache()
        log.warning("the device's memory is full; going on with %d tokens at a time", pack // 2)
        return pack // 2


@contextmanager
def full_memory() -> Iterator[None]:
    """Turns the error of a device whose memory is full into one for the user, where nothing smaller can be tried.

    Raises:
        UserError: instead of it.
    """
    try:
        yield
    except RuntimeError as e:
        if not should_reduce_batch_size(e):
            raise
        raise UserError(
            "the device's memory is full",
            "end other programs on it, or give a smaller --eval.batch_size or --model.dtype bfloat16",
        ) from e


def too_small(size: int) -> UserError:
    """Returns the error that ends a run when so many tokens at a time are too many and fewer are no use."""
    return UserError(
        f"the device's memory is too small for {size} tokens at a time",
        "give --model.dtype bfloat16, --model.parallelize true, fewer examples or a smaller model",
    )


def needed(model: Any, longest: int, pack: int) -> int:
    """Returns roughly how many bytes a forward pass over a pack takes, the cache included.

    Args:
        model: decoder-only.
        longest: tokens of the longest sequence.
        pack: tokens of the pack.
    """
    config = model.config.get_text_config(decoder=True)
    heads, hidden = config.num_attention_heads, config.hidden_size
    head = _largest(config, "head_dim") or hidden // heads
    key_heads = _largest(config, "num_key_value_heads") or heads
    keys, size = longest + pack, model.dtype.itemsize
    cache = 2 * config.num_hidden_layers * keys * key_heads * head * size
    activations = pack * (8 * hidden + 4 * (_largest(config, "intermediate_size") or 4 * hidden)) * size
    repeated = 4 * keys * heads * head * size  # keys and values for every head
    masks = 4 * pack * keys * size
    eager = 3 * heads * pack * keys * size if config._attn_implementation == "eager" else 0
    return int(cache + activations + repeated + masks + eager)


def _largest(config: Any, name: str) -> int:
    """Returns a number among a model's settings, the largest if its layers differ, 0 if it has none."""
    try:
        value = getattr(config, name, None)
    except RuntimeError:  # transformers names no number for all layers where they differ
        value = [getattr(config.per_layer_config[i], name) for i in range(config.num_hidden_layers)]
    return int((max(value) if isinstance(value, list | tuple) else value) or 0)


def free_memory(device: torch.device) -> int:
    """Returns how many bytes of a device can be had."""
    if device.type == "cuda":
        unused = torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device)
        return int(torch.cuda.mem_get_info(device)[0] + unused)
    return int(psutil.virtual_memory().available)
