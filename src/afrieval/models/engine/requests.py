"""What the engine is asked, what it answers, and the one error that it raises on purpose."""

from typing import Any

# (anything, tokens of the context, tokens of the answer)
TokenRequest = tuple[Any, list[int], list[int]]
# The log-likelihood of an answer, and whether it is the greedy one.
Answer = tuple[float, bool]


class EngineError(Exception):
    """Work that a device or a model cannot do.

    Args:
        message: what is wrong.
        hint: which settings would help.
    """

    def __init__(self, message: str, hint: str):
        self.message, self.hint = message, hint
        super().__init__(message, hint)


def too_small(size: int) -> EngineError:
    """Returns the error that ends a run when so many tokens at a time are too many and fewer are no use."""
    return EngineError(
        f"the device's memory is too small for {size} tokens at a time",
        "give --model.dtype bfloat16, --model.parallelize true, fewer examples or a smaller model",
    )
