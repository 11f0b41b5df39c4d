"""The memory that a model needs, and what the device here has."""

import logging
from dataclasses import dataclass

from afrieval.estimates.hollow import Hollow
from afrieval.models.device import device_name
from afrieval.models.engine.footprint import Bytes
from afrieval.models.engine.memory import free_memory
from afrieval.models.engine.predicted import batch_bytes, generated_bytes, pack_bytes, plain_bytes, slots_bytes

log = logging.getLogger("afrieval")


@dataclass(frozen=True)
class Memory:
    """Bytes that a run takes.

    Attributes:
        weights: exact, unless the weights are stored in fewer bits than config.json says.
        passes: keys and values of a cache, activations and logits, at most; None if the model's code does not tell.
        free: of the device here.
        device: its name.
        dtype: the data type of the weights.
        quantised: whether the weights are packed numbers, so that they take less.
    """

    weights: int
    passes: int | None
    free: int
    device: str
    dtype: str
    quantised: bool

    @property
    def total(self) -> int:
        """Bytes in all."""
        return self.weights + (self.passes or 0)


def memory_of(lm: Hollow) -> Memory:
    """Returns the memory that a run needs whose requests a model without weights has counted."""
    quantised = getattr(lm.config, "quantization_config", None) is not None or lm.packs_weights
    dtype = str(lm.model.dtype).removeprefix("torch.")
    free, device = free_memory(lm.device), str(device_name(lm.device))
    return Memory(lm.weights, _passes(lm), free, device, dtype, bool(quantised))


def _passes(lm: Hollow) -> int | None:
    """Returns the memory of forward passes, for the kind of request that takes more."""
    try:
        return max(map(_bytes, (_scored(lm), _written(lm))))
    except Exception as e:  # a model's code may ask for numbers, which are not there
        log.debug("the memory of a forward pass is not known: %s", e)
        return None


def _scored(lm: Hollow) -> Bytes:
    """Returns what likelihoods take."""
    if lm.batch:
        return batch_bytes(lm, [*lm.batch])
    if lm.texts[0]:
        return plain_bytes(lm, *lm.texts)
    return pack_bytes(lm, *lm.widest) if lm.widest[0] else {}


def _written(lm: Hollow) -> Bytes:
    """Returns what generated answers take."""
    if lm.side_by_side[1]:
        return slots_bytes(lm, *lm.side_by_side, lm.packs.size(lm, lm.longest))
    return generated_bytes(lm, *lm.together) if lm.together[0] else {}


def _bytes(found: Bytes) -> int:
    return sum(found.values())
