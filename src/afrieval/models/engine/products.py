"""Computes products of a model's weights by oneDNN, where torch would leave them to MKL on a foreign processor."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial

import torch
from torch import Tensor, nn

from afrieval.models.engine.processor import processor_vendor
from afrieval.models.engine.requests import EngineModel


def layers_for_onednn(lm: EngineModel) -> list[nn.Linear]:
    """Returns the layers of a model whose products oneDNN computes faster.

    torch computes those of float32 with Intel's MKL, on x86 processors of other makers too. There, MKL takes up to
    three times as long with few tokens, and a tenth longer with many. On Intel's own, the two were not compared.
    """
    foreign = processor_vendor() not in ("", "GenuineIntel")
    both = torch.backends.mkl.is_available() and torch.backends.mkldnn.is_available()
    if not (foreign and both and lm.mixed_precision_dtype is None):
        return []
    return [
        layer
        for layer in lm.model.modules()
        if type(layer) is nn.Linear
        and type(layer.weight) is nn.Parameter  # others are quantised (torchao), and say float32 too
        and (layer.weight.device.type, layer.weight.dtype) == ("cpu", torch.float32)
        and "forward" not in vars(layer)  # accelerate's, where it loads weights when they are needed
    ]


@contextmanager
def onednn(layers: Sequence[nn.Linear]) -> Iterator[None]:
    """Makes some layers compute their products by oneDNN, without gradients."""
    try:
        for layer in layers:
            vars(layer)["forward"] = partial(product, layer)
        yield
    finally:
        for layer in layers:
            vars(layer).pop("forward", None)


def product(layer: nn.Linear, inputs: Tensor) -> Tensor:
    """Returns what a layer gives for inputs, [..., in], of float32: [..., out]."""
    output: Tensor = torch.ops.mkldnn._linear_pointwise(inputs, layer.weight, layer.bias, "none", [], "")
    return output
