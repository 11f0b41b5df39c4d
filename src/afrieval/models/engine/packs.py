"""Chooses how much is computed at a time: enough to keep the processor busy, and no more than memory holds."""

import logging
import math
from collections.abc import Callable
from functools import partial

import psutil
import torch

from afrieval.models.engine.branches import SHORT
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
PADDED_TO = 64  # tokens that layers with states compute at a time, short sequences padded to as many
COPIES = 8  # of states: those that are stored, continued and computed
LENGTH = 16  # tokens of an answer, where it is not known how long they are


class Packs:
    """The size of packs, at most `most`: found from the device and its free memory, halved when memory runs out."""

    def __init__(self, most: int | None = None, free: Callable[[torch.device], int] | None = None):
        self._most = most
        self._free = free
        self._found: dict[tuple[object, ...], Bytes] = {}

    def size(self, lm: EngineModel, longest: int) -> int:
        """Returns how many tokens a pack may have in addition to the longest sequence."""
        most = self._most or PACK.get(lm.device.type, PACK["cpu"])
        scored = self.scored(lm)

        def needed(longest: int, size: int) -> Bytes:
            if lm.backend == "causal":
                return pack_bytes(lm, longest + size, size, min(size, scored), size)
            contexts = [[i % 2] * longest for i in range(max(1, size // longest)) for _ in range(CHOICES)]
            answer = [0] * min(LENGTH, scored)
            return batch_bytes(lm, [(None, context, answer) for context in contexts[: scored // len(answer)]])

        longest += -longest % max(SMALLEST, 1 << longest.bit_length() >> 3)  # so that few lengths have to be tried
        return self._halved(lm, most, SMALLEST, "pack", (longest,), partial(at_most, lm), needed)

    def rows(self, lm: EngineModel, longest: int) -> int:
        """Returns how many answers of at most `longest` tokens, prompts included, transformers generates at a time."""
        return self._halved(
            lm, lm.max_batch_size, 1, "rows", (longest,),
            bound=lambda longest, rows: at_most(lm, 0, rows * longest, longest, rows),
            needed=lambda longest, rows: generated_bytes(lm, rows, longest, 1),
        )  # fmt: skip

    def slots(self, lm: EngineModel, shared: int, room: int) -> int:
        """Returns how many answers to generate side by side, given how many tokens are shared, and each one's own."""
        most = min(lm.max_batch_size, SLOTS.get(lm.device.type, lm.max_batch_size))
        return self._halved(
            lm, most, 1, "slots", (shared, room),
            bound=lambda shared, room, slots: at_most(lm, shared + slots * room, max(slots, SMALLEST), None, slots),
            needed=lambda shared, room, slots: slots_bytes(lm, shared, slots, room, SMALLEST),
        )  # fmt: skip

    def _halved(
        self,
        lm: EngineModel,
        number: int,
        least: int,
        kind: str,
        lengths: tuple[int, ...],
        bound: Callable[..., float],
        needed: Callable[..., Bytes],
    ) -> int:
        """Returns a number, halved until what is computed at a time fits into memory or only the least is left.

        `lengths` are in tokens. `bound` returns more bytes than they and a number take, and is fast; `needed` returns
        the bytes that they take.
        """

        def fits(lengths: tuple[int, ...], number: int) -> bool:
            """Returns whether so many at a time fit into memory; true where that cannot be found."""
            free = {device: SHARE * (self._free or free_memory)(device) for device in devices(lm)}
            if bound(*lengths, number) <= (smallest := min(free.values())):
                return True
            what = kind, *lengths, number
            if what not in self._found:
                try:
                    self._found[what] = needed(*lengths, number)
                except Exception as e:
                    log.debug("the memory of %s is not known: %s", what, e)
                    self._found[what] = {}
            return all(n <= free.get(device, smallest) for device, n in self._found[what].items())

        # an estimate takes seconds if a model has many layers: one serves all cells whose lengths round to the same
        if fits(tuple(1 << (length - 1).bit_length() if length else 0 for length in lengths), number):
            return number
        while number > least and not fits(lengths, number):
            number //= 2
        return number

    def scored(self, lm: EngineModel) -> int:
        """Returns how many positions of a pack may be scored: their logits take as much as a small model."""
        vocabulary = int(lm.model.config.get_text_config(decoder=True).vocab_size)
        most = SCORED_BYTES.get(lm.device.type, SCORED_BYTES["cpu"])
        return max(1, most // (int(lm.model.dtype.itemsize) * vocabulary))

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


def at_most(lm: EngineModel, longest: int, pack: int, seen: int | None = None, rows: int | None = None) -> float:
    """Returns more bytes than a pack takes: as if all products with weights and several layers' scores were kept.

    Each token sees `seen` others, or all. States are of so many `rows`, or of as many short sequences as a pack has.
    """
    heads = getattr(lm.model.config.get_text_config(decoder=True), "num_attention_heads", math.inf)
    widths = sum(weight.numel() // max(1, min(weight.shape)) for weight in lm.model.parameters() if weight.dim() > 1)
    tokens = longest + pack if lm.backend == "causal" else 2 * CHOICES * pack
    states = lm.state_bytes * (pack // SHORT + 1 if rows is None else rows + 1)
    padded = PADDED_TO // SHORT * pack if states else 0  # to what layers with states compute at a time
    products = 2 * (tokens + padded) * widths + 4 * heads * pack * (seen or longest + pack)
    return float(lm.model.dtype.itemsize * products + COPIES * states + SPARE)


def devices(lm: EngineModel) -> set[torch.device]:
    """Returns the devices that a model computes on."""
    return {weight.device for weight in lm.model.parameters() if not weight.is_meta} or {lm.device}


def free_memory(device: torch.device) -> int:
    """Returns how many bytes of a device can be had."""
    if device.type == "cuda":
        unused = torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device)
        return int(torch.cuda.mem_get_info(device)[0] + unused)
    return int(psutil.virtual_memory().available)
