"""How much memory work with a model takes, found without doing it: its code runs on tensors without numbers."""

import copy
import logging
import weakref
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import chain
from typing import Any

import torch
from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from afrieval.models.engine.requests import EngineModel

Bytes = dict[torch.device, int]
torch_log = logging.getLogger("torch._subclasses.fake_tensor")


class Live(TorchDispatchMode):
    """Counts the bytes of tensors that are made while it is active; views take none.

    Attributes:
        now: bytes alive, by device.
        most: the most there were at any moment.
    """

    def __init__(self) -> None:
        super().__init__()
        self.now: Bytes = defaultdict(int)
        self.most: Bytes = defaultdict(int)

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Runs an operation, and counts what it makes."""
        known = {tensor.untyped_storage()._cdata for tensor in _tensors((args, kwargs))}
        result = _run(func, args, kwargs or {})
        for tensor in _tensors(result):
            storage = tensor.untyped_storage()
            if storage._cdata not in known:
                known.add(storage._cdata)
                self._count(tensor.device, storage)
        return result

    def _count(self, device: torch.device, storage: torch.UntypedStorage) -> None:
        size = storage.nbytes()
        self._add(device, size)
        weakref.finalize(storage, self._add, device, -size)

    def _add(self, device: torch.device, size: int) -> None:
        self.now[device] += size
        self.most[device] = max(self.most[device], self.now[device])


def _run(func: Any, args: Any, kwargs: Any) -> Any:
    """Runs an operation; torch's grouped products of experts accept 16 bits only where there are no numbers."""
    if func is torch.ops.aten._grouped_mm.default and isinstance(args[0], FakeTensor):
        return func(args[0].bfloat16(), args[1].bfloat16(), *args[2:], **kwargs).to(args[0].dtype)
    return func(*args, **kwargs)


def _tensors(values: Any) -> Iterator[torch.Tensor]:
    return (value for value in tree_leaves(values) if isinstance(value, torch.Tensor))


def footprint(lm: EngineModel, work: Callable[[Any], object]) -> Bytes:
    """Returns how many bytes some work takes at most, by device; the model's weights are left out.

    What kernels of the device take for themselves is not counted.

    Args:
        lm: a model of the harness' hf backend; weights without numbers count as being on its device.
        work: what is to be counted; called with a model of the same shape without numbers.
    """
    weights = [*chain(lm.model.parameters(), lm.model.buffers())]
    if 0 < sum(weight.is_meta for weight in weights) < len(weights):
        raise ValueError("some weights are loaded when they are used")
    fake = FakeTensorMode(allow_non_fake_inputs=True)
    stand_in: Any = copy.copy(lm)
    stand_in._model = copy.deepcopy(lm.model, {id(weight): _fake(fake, weight, lm.device) for weight in weights})
    with lm.work.paused(), _quiet(), fake, Live() as live:
        work(stand_in)
    return dict(live.most)


@contextmanager
def _quiet() -> Iterator[None]:
    """Keeps torch from logging errors that it raises too: callers try work that may not be possible."""

    def nothing(record: logging.LogRecord) -> bool:
        return False

    torch_log.addFilter(nothing)
    try:
        yield
    finally:
        torch_log.removeFilter(nothing)


def _fake(fake: FakeTensorMode, weight: torch.Tensor, device: torch.device) -> torch.Tensor:
    if not weight.is_meta:
        return fake.from_tensor(weight)
    with fake:
        found = torch.empty_strided(weight.shape, weight.stride(), dtype=weight.dtype, device=device)
        return torch.nn.Parameter(found, weight.requires_grad) if isinstance(weight, torch.nn.Parameter) else found
