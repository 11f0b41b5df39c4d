"""The memory that a model needs, and what the device here has."""

from dataclasses import dataclass
from typing import Any

from afrieval.estimates.hollow import Hollow
from afrieval.estimates.size import Size
from afrieval.models.device import device_name
from afrieval.models.engine.memory import free_memory, needed


@dataclass(frozen=True)
class Memory:
    """Bytes that a run takes.

    Attributes:
        weights: exact, unless the weights are stored in fewer bits than config.json says.
        passes: keys and values of a cache, and activations, about; None if the model does not say how large it is.
        logits: at most, where answers are scored.
        free: of the device here.
        device: its name.
        dtype: the data type of the weights.
        quantised: whether the weights are packed numbers, so that they take less.
    """

    weights: int
    passes: int | None
    logits: int
    free: int
    device: str
    dtype: str
    quantised: bool

    @property
    def total(self) -> int:
        """Bytes in all."""
        return self.weights + (self.passes or 0) + self.logits


def memory_of(lm: Hollow, total: Size) -> Memory:
    """Returns the memory that a run of counted requests needs.

    Args:
        lm: the model without weights, after its requests were counted.
        total: what they ask for.
    """
    passes, logits = _passes(lm, total)
    quantised = getattr(lm.config, "quantization_config", None) is not None or lm.packs_weights
    dtype = str(lm.model.dtype).removeprefix("torch.")
    return Memory(
        lm.weights, passes, logits, free_memory(lm.device), str(device_name(lm.device)), dtype, bool(quantised)
    )


def _passes(lm: Any, total: Size) -> tuple[int | None, int]:
    """Returns the memory of forward passes and of logits, for the kind of request that takes more."""
    if lm.longest == 0:
        return 0, 0
    try:
        pack = lm.packs.size(lm, lm.longest)
        rows = lm.batch_size if isinstance(lm.batch_size, int) else lm.packs.rows(lm, lm.longest)
        scored = needed(lm.model, lm.longest, pack) if total.likelihoods.requests else 0
        written = needed(lm.model, lm.keys or rows * lm.longest, pack) if total.answers.requests else 0
    except (AttributeError, TypeError):  # config.json has other names for its sizes
        return None, 0
    vocabulary = int(lm.model.config.get_text_config(decoder=True).vocab_size)
    positions = min(pack, lm.packs.scored(lm)) if total.likelihoods.requests else rows
    return max(scored, written), 12 * vocabulary * positions
