"""Estimates the memory of a forward pass without computing it: the model's code runs on tensors without data."""

import copy
import logging
import weakref
from collections import defaultdict
from collections.abc import Callable, Iterator
from functools import partial, wraps
from itertools import chain
from typing import Any, Concatenate, ParamSpec

import numpy as np
import torch
from torch import Tensor
from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from afrieval.models.engine.branches import SHORT
from afrieval.models.engine.caches import ROW, Layout, PathCache, RowLayout, Segment, cache_name, has_states
from afrieval.models.engine.decode_attention import DecodePass
from afrieval.models.engine.forward import Forward, inference
from afrieval.models.engine.logits import on_device
from afrieval.models.engine.padded import passes
from afrieval.models.engine.requests import EngineModel, TokenRequest
from afrieval.models.engine.tree_attention import VisibleKeys

P = ParamSpec("P")
Bytes = dict[torch.device, int]
torch_log = logging.getLogger("torch._subclasses.fake_tensor")


class LiveBytes(TorchDispatchMode):
    """Counts the bytes of tensors that are made while it is active; views take none.

    Attributes:
        held: bytes alive, by device.
        most: the most there were at any moment.
    """

    def __init__(self) -> None:
        super().__init__()
        self.held: Bytes = defaultdict(int)
        self.most: Bytes = defaultdict(int)

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Runs an operation, and counts what it makes; without data, products of experts accept 16 bits only."""
        storages, kwargs = {tensor.untyped_storage()._cdata for tensor in _tensors((args, kwargs))}, kwargs or {}
        if func is torch.ops.aten._grouped_mm.default and isinstance(args[0], FakeTensor):
            output = func(args[0].bfloat16(), args[1].bfloat16(), *args[2:], **kwargs).to(args[0].dtype)
        else:
            output = func(*args, **kwargs)
        for tensor in _tensors(output):
            storage = tensor.untyped_storage()
            if storage._cdata not in storages:
                storages.add(storage._cdata)
                self._add(tensor.device, storage.nbytes())
                weakref.finalize(storage, self._add, tensor.device, -storage.nbytes())
        return output

    def _add(self, device: torch.device, size: int) -> None:
        self.held[device] += size
        self.most[device] = max(self.most[device], self.held[device])


def _tensors(values: Any) -> Iterator[Tensor]:
    return (value for value in tree_leaves(values) if isinstance(value, Tensor))


def footprint(lm: EngineModel, work: Callable[[Any], object]) -> Bytes:
    """Returns how many bytes some work takes at most, by device; the model's weights are left out.

    What kernels of the device take for themselves is not counted.
    """
    weights = [*chain(lm.model.parameters(), lm.model.buffers())]
    if 0 < sum(weight.is_meta for weight in weights) < len(weights):
        raise ValueError("some weights are loaded when they are used")
    fake = FakeTensorMode(allow_non_fake_inputs=True)
    stand_in: Any = copy.copy(lm)
    stand_in._model = copy.deepcopy(lm.model, {id(weight): _fake(fake, weight, lm.device) for weight in weights})
    torch_log.addFilter(nothing := lambda record: False)  # it logs errors that it raises too, and callers try
    try:
        with lm.work.paused(), fake, LiveBytes() as live:
            work(stand_in)
    finally:
        torch_log.removeFilter(nothing)
    return dict(live.most)


def _fake(fake: FakeTensorMode, weight: Tensor, device: torch.device) -> Tensor:
    if not weight.is_meta:
        return fake.from_tensor(weight)
    with fake:
        stand_in = torch.empty_strided(weight.shape, weight.stride(), dtype=weight.dtype, device=device)
        return (
            torch.nn.Parameter(stand_in, weight.requires_grad) if isinstance(weight, torch.nn.Parameter) else stand_in
        )


def measured(work: Callable[Concatenate[Any, P], None]) -> Callable[Concatenate[EngineModel, P], Bytes]:
    """Makes some work of a model return how many bytes it takes at most, by device."""

    @wraps(work)
    def estimate(lm: EngineModel, /, *args: P.args, **kwargs: P.kwargs) -> Bytes:
        return footprint(lm, lambda stand_in: work(stand_in, *args, **kwargs))

    return estimate


@measured
def pack_bytes(lm: EngineModel, room: int, pack: int, scored: int, branch: int, vocabulary: bool = False) -> None:
    """Returns how many bytes the engine takes for a pack when its cache is full, the cache included.

    Args:
        lm: a model of the harness' hf backend, decoder-only.
        room: tokens that the cache has room for, the pack included.
        pack: tokens of the pack.
        scored: positions of it at which something is scored.
        branch: tokens of the pack that follow each other, such as a question.
        vocabulary: whether mean and variance over the vocabulary are wanted too.
    """
    view, cache, rows = _view(room, pack, branch), PathCache(lm.model, room), ROW
    tokens, positions = torch.zeros(pack, dtype=torch.long), torch.from_numpy(view.depth[view.cached :])
    cache.write_at(slice(view.cached, room), room, rows)
    forward = partial(Forward(lm, cache), tokens.to(lm.device), positions.to(lm.device), view, [*range(scored)])
    if has_states(lm.model):  # each of many short sequences continues a state
        rows = RowLayout.of([len(part) for part in np.array_split(np.arange(pack), -(-pack // SHORT))], lm.device)
        cache.write_at(slice(view.cached, room), room, rows)
        numbers = torch.arange(rows.number)
        forward(rows)
        cache.store(numbers, rows.number)
        cache.load(numbers)
    on_device(lm, forward(rows), np.zeros(scored, dtype=np.int64), np.arange(scored), vocabulary)


def state_bytes(lm: EngineModel) -> int:
    """Returns how many bytes of states a sequence has, 0 if the model has none; nothing is computed."""
    if not has_states(lm.model):
        return 0
    sizes = list[int]()

    def read(stand_in: Any) -> None:
        cache, view = PathCache(stand_in.model, 2), VisibleKeys(np.arange(2), np.full(2, 2), np.arange(2), 0)
        cache.write_at(slice(2), 2)
        tokens, depth = torch.zeros(2, dtype=torch.long, device=lm.device), torch.arange(2, device=lm.device)
        Forward(stand_in, cache)(tokens, depth, view, [0])
        cache.store(slice(1), 1)
        sizes.extend(states.nbytes for layer in cache.layers for states in getattr(layer, "stored", {}).values())

    footprint(lm, read)
    return sum(sizes)


def _view(room: int, pack: int, branch: int) -> VisibleKeys:
    """Returns a pack whose branches begin where the cached tokens end.

    If it holds no whole branch, one ends in its middle, and another begins at the root: then only some tokens see what
    is cached, and masks are as large as they can be.
    """
    cached = room - pack
    node, end, depth = np.arange(room), np.full(room, room), np.arange(room)
    if branch < pack:
        step = np.arange(pack) % branch
        depth[cached:] = cached + step
        end[cached:] = np.minimum(node[cached:] - step + branch, room)
    else:
        turn = cached + pack // 2
        depth[turn:] = 1 + np.arange(room - turn)
        end[1:turn] = turn
    return VisibleKeys(node, end, depth, cached)


@measured
def batch_bytes(lm: EngineModel, requests: list[TokenRequest]) -> None:
    """Returns how many bytes an encoder-decoder takes for requests that the engine answers at a time."""
    for logits, tokens, where, _ in passes(lm, requests):
        on_device(lm, logits, tokens, where)


@measured
def plain_bytes(lm: EngineModel, rows: int, longest: int) -> None:
    """Returns how many bytes the harness takes for a batch of likelihoods."""
    ids = torch.zeros(rows, longest, dtype=torch.long, device=lm.device)
    further = () if lm.backend == "causal" else (torch.ones_like(ids), ids[:, :1])
    torch.log_softmax(lm._model_call(ids, *further), dim=-1, dtype=lm.softmax_dtype)


@measured
def slots_bytes(lm: EngineModel, shared: int, slots: int, room: int, pack: int) -> None:
    """Returns how many bytes the engine takes for answers that it generates side by side.

    Args:
        lm: a model of the harness' hf backend, decoder-only.
        shared: tokens that all prompts begin with.
        slots: answers at a time.
        room: tokens of each, prompt included, without those.
        pack: tokens of prompts that are read at a time.
    """
    layout, n = Layout(shared, slots, room), min(room, max(1, pack // slots))
    steps = DecodePass(layout, [Segment(i, room - n, [0] * n) for i in range(slots)])
    tokens, depth, positions = torch.tensor([steps.tokens, steps.depth, steps.cache_index], device=lm.device)
    cache, rows = PathCache(lm.model, layout.size), RowLayout(slots, n) if has_states(lm.model) else ROW
    cache.write_at(positions, layout.size, rows)
    Forward(lm, cache)(tokens, depth, steps, [*range(n - 1, slots * n, n)], rows).float()
    cache.store(slice(0, slots), slots + 1)


@measured
def generated_bytes(lm: EngineModel, rows: int, prompt: int, steps: int) -> None:
    """Returns how many bytes transformers takes for a batch of generated answers."""
    ids, mask = (torch.full((rows, prompt), value, dtype=torch.long, device=lm.device) for value in (0, 1))
    with inference(lm):
        if lm.backend == "seq2seq":
            states = lm.model.get_encoder()(input_ids=ids, attention_mask=mask).last_hidden_state
            lm.model.get_decoder()(input_ids=ids.new_zeros(rows, steps), encoder_hidden_states=states)
            return
        name = cache_name(lm.model)
        cache = getattr(lm.model(input_ids=ids, use_cache=True, logits_to_keep=1), name)
        for i, layer in enumerate(cache.layers):
            if layer.is_initialized:
                shape = rows, layer.keys.shape[1], steps
                cache.update(*(x.new_empty(*shape, x.shape[3]) for x in (layer.keys, layer.values)), i)
        lm.model(input_ids=ids[:, :1], use_cache=True, **{name: cache})
