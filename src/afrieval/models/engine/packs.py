"""Chooses how much is computed at a time: enough to keep the processor busy, and no more than memory holds."""

import logging
import math
from collections.abc import Callable

import psutil
import torch

from afrieval.models.engine.memory_estimate import Bytes, batch_bytes, generated_bytes, pack_bytes, slots_bytes
from afrieval.models.engine.padded import CHOICES
from afrieval.models.engine.requests import EngineModel, too_small

log = logging.getLogger("afrieval")

PACK = {"cpu": 512, "cuda": 4096}  # tokens per forward pass; more is no faster
SCORED_BYTES = {"cpu": 2**28, "cuda": 2**31}
SLOTS = {"cpu": 32}  # answers generated side by side; with more, arithmetic takes the time there, not memory
SMALLEST = 16
SHARE = 0.75  # of the free memory
SPARE = 2**28  # bytes for what does not grow with a pack: scores and logits are computed some at a time
LENGTH = 16  # tokens of an answer, where it is not known how long they are


class Packs:
    """The size of packs, at most `most`: found from the device and its free memory, halved when memory runs out."""

    def __init__(self, most: int | None = None, free: Callable[[torch.device], int] | None = None):
        self._most = most
        self._free = free
        self._found: dict[tuple[str, *tuple[int, ...]], Bytes] = {}

    def size(self, lm: EngineModel, longest: int) -> int:
        """Returns how many tokens a pack may have in addition to the longest sequence."""
        size = self._most or PACK.get(lm.device.type, PACK["cpu"])
        longest += -longest % max(SMALLEST, 1 << longest.bit_length() >> 3)  # so that few lengths have to be tried
        scored = self.scored(lm)

        def needed(size: int) -> Bytes:
            if lm.backend == "causal":
                return pack_bytes(lm, longest + size, size, min(size, scored), size)
            contexts = [[i % 2] * longest for i in range(max(1, size // longest)) for _ in range(CHOICES)]
            answer = [0] * min(LENGTH, scored)
            return batch_bytes(lm, [(None, context, answer) for context in contexts[: scored // len(answer)]])

        while size > SMALLEST and not self._fits(lm, ("pack", longest, size), at_most(lm, longest, size), needed):
            size //= 2
        return size

    def rows(self, lm: EngineModel, longest: int) -> int:
        """Returns how many answers of at most `longest` tokens, prompts included, transformers generates at a time."""

        def needed(rows: int) -> Bytes:
            return generated_bytes(lm, rows, longest, 1)

        rows: int = lm.max_batch_size
        while rows > 1 and not self._fits(lm, ("rows", longest, rows), at_most(lm, 0, rows * longest, longest), needed):
            rows //= 2
        return rows

    def _fits(
        self, lm: EngineModel, what: tuple[str, *tuple[int, ...]], bound: float, needed: Callable[[int], Bytes]
    ) -> bool:
        """Returns whether `what`, whose last element is a number, fits into memory; true where that cannot be found.

        `bound` is more bytes than it takes, found faster than what `needed` gives for a number.
        """
        free = {device: SHARE * (self._free or free_memory)(device) for device in devices(lm)}
        if bound <= (least := min(free.values())):
            return True
        if what not in self._found:
            try:
                self._found[what] = needed(int(what[-1]))
            except Exception as e:
                log.debug("the memory of %s is not known: %s", what, e)
                self._found[what] = {}
        return all(n <= free.get(device, least) for device, n in self._found[what].items())

    def scored(self, lm: EngineModel) -> int:
        """Returns how many positions of a pack may be scored: their logits take as much as a small model."""
        vocabulary = int(lm.model.config.get_text_config(decoder=True).vocab_size)
        most = SCORED_BYTES.get(lm.device.type, SCORED_BYTES["cpu"])
        return max(1, most // (int(lm.model.dtype.itemsize) * vocabulary))

    def slots(self, lm: EngineModel, shared: int, own: int) -> int:
        """Returns how many answers to generate side by side, given how many tokens are shared, and each one's own."""

        def needed(slots: int) -> Bytes:
            return slots_bytes(lm, shared, slots, own, SMALLEST)

        slots: int = min(lm.max_batch_size, SLOTS.get(lm.device.type, lm.max_batch_size))
        while slots > 1 and not self._fits(
            lm, ("slots", shared, own, slots), at_most(lm, shared + slots * own, max(slots, SMALLEST)), needed
        ):
            slots //= 2
        return slots

    def reduce(self, pack: int, size: int) -> int:
        """Returns how many tokens to take after a pack that was too much; of whole packs, that is for good.

        Raises:
            EngineError: if it had few tokens already.
        """
        if pack <= SMALLEST:
            raise too_small(pack)
        if pack == size:
            self._most = size // 2
        if torch.cuda.is_available():
            torch.cuda.empty_cache()
        log.warning("the device's memory is full; going on with %d tokens at a time", pack // 2)
        return pack // 2


def at_most(lm: EngineModel, longest: int, pack: int, seen: int | None = None) -> float:
    """Returns more bytes than a pack takes: as if all products with weights and several layers' scores were kept.

    Each token sees `seen` others, or all.
    """
    heads = getattr(lm.model.config.get_text_config(decoder=True), "num_attention_heads", math.inf)
    widths = sum(weight.numel() // max(1, min(weight.shape)) for weight in lm.model.parameters() if weight.dim() > 1)
    tokens = longest + pack if lm.backend == "causal" else 2 * CHOICES * pack
    return float(lm.model.dtype.itemsize * (2 * tokens * widths + 4 * heads * pack * (seen or longest + pack)) + SPARE)


def devices(lm: EngineModel) -> set[torch.device]:
    """Returns the devices that a model computes on."""
    return {weight.device for weight in lm.model.parameters() if not weight.is_meta} or {lm.device}


def free_memory(device: torch.device) -> int:
    """Returns how many bytes of a device can be had."""
    if device.type == "cuda":
        unused = torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device)
        return int(torch.cuda.mem_get_info(device)[0] + unused)
    return int(psutil.virtual_memory().available)
