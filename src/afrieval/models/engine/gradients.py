"""Computes the norm of the gradient of a text's loss: how strongly the text would change the model.

The model stays in the mode for evaluation, without dropout, so that the same text has the same norm each time.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch

from afrieval.models.engine.padded import logits_of
from afrieval.models.engine.requests import EngineError, EngineModel, TokenRequest, if_it_fits


def gradient_norm(lm: EngineModel, windows: list[TokenRequest]) -> float:
    """Returns the mean over the model's parameter tensors of the 2-norm of the gradient of a text's mean loss.

    Parameters that the loss does not depend on do not count.

    Raises:
        EngineError: if the device's memory is too small.
    """
    n = sum(len(answer) for _, _, answer in windows)

    def norms() -> list[float]:
        with differentiable(lm.model) as parameters:
            total: list[torch.Tensor | None] = [None] * len(parameters)
            for window in windows:
                for i, new in enumerate(_gradients(lm, window, n, parameters)):
                    before = total[i]
                    total[i] = new if before is None else before if new is None else before.add_(new)
            return [float(torch.linalg.vector_norm(g, dtype=torch.float32)) for g in total if g is not None]

    if (sizes := if_it_fits(norms)) is None:
        raise EngineError(
            f"the device's memory is too small for the gradient of a text of {n} tokens, which takes as much as the "
            "model again",
            "give --model.dtype bfloat16, a device with more memory or a smaller model, or leave gradient_norm out",
        )
    return float(np.mean(sizes))


def _gradients(
    lm: EngineModel, window: TokenRequest, n: int, parameters: list[torch.Tensor]
) -> tuple[torch.Tensor | None, ...]:
    """Returns the gradients of a window's share of the mean loss of `n` tokens."""
    mixed = lm.mixed_precision_dtype
    with torch.enable_grad(), torch.autocast(lm.device.type, mixed, mixed is not None):
        (logits,) = logits_of(lm, [window])
        answer = torch.tensor(window[2], device=logits.device)
        loss = torch.nn.functional.cross_entropy(logits.float(), answer, reduction="sum") / n
        gradients: tuple[torch.Tensor | None, ...] = torch.autograd.grad(loss, parameters, allow_unused=True)
        return gradients


@contextmanager
def differentiable(model: Any) -> Iterator[list[torch.Tensor]]:
    """Yields a model's parameters, all of which have gradients inside, whatever is trained otherwise."""
    parameters = [p for p in model.parameters() if p.is_floating_point()]
    before = [p.requires_grad for p in parameters]
    try:
        for p in parameters:
            p.requires_grad_(True)
        yield parameters
    finally:
        for p, needed in zip(parameters, before, strict=True):
            p.requires_grad_(needed)
