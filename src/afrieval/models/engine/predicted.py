"""How much memory a model takes for what is computed at a time, by device and without its weights."""

from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from afrieval.models.engine.encoder_decoder import passes
from afrieval.models.engine.footprint import Bytes, footprint
from afrieval.models.engine.forward import Forward, inference
from afrieval.models.engine.likelihood import TokenRequest
from afrieval.models.engine.reading import on_device
from afrieval.models.engine.tiles import View


def pack_bytes(lm: Any, room: int, pack: int, scored: int, branch: int, vocabulary: bool = False) -> Bytes:
    """Returns how many bytes the engine takes for a pack when its cache is full, the cache included.

    Args:
        lm: a model of the harness' hf backend, decoder-only.
        room: tokens that the cache has room for, those of the pack included.
        pack: tokens of the pack.
        scored: positions of it at which something is scored.
        branch: tokens of the pack that follow each other, as those of a question do.
        vocabulary: whether mean and variance over the vocabulary are wanted too.
    """
    cached, place = room - pack, np.arange(pack) % branch
    node = np.arange(room)
    ends = np.minimum(node[cached:] - place + branch, room)
    depth = np.concatenate([node[:cached], cached + place])
    view = View(node, np.concatenate([np.full(cached, room), ends]), depth, cached)

    def work(lm: Any) -> None:
        forward = Forward(lm, room)
        for layer in forward.cache.layers:
            layer.length = cached
        tokens, positions = torch.zeros(pack, dtype=torch.long), torch.from_numpy(depth[cached:])
        logits = forward(tokens.to(lm.device), positions.to(lm.device), view, [*range(scored)])
        on_device(lm, logits, np.zeros(scored, dtype=np.int64), np.arange(scored), vocabulary)

    return footprint(lm, work)


def batch_bytes(lm: Any, requests: list[TokenRequest]) -> Bytes:
    """Returns how many bytes an encoder-decoder takes for requests that the engine answers at a time."""

    def work(lm: Any) -> None:
        for logits, asked, where, _ in passes(lm, requests):
            on_device(lm, logits, asked, where)

    return footprint(lm, work)


def plain_bytes(lm: Any, rows: int, longest: int) -> Bytes:
    """Returns how many bytes the harness takes for a batch of likelihoods.

    Args:
        lm: a model of the harness' hf backend.
        rows: texts at a time.
        longest: tokens of each, of which an encoder-decoder encodes nearly all.
    """

    def work(lm: Any) -> None:
        ids = torch.zeros(rows, longest, dtype=torch.long, device=lm.device)
        further = () if lm.backend == "causal" else (torch.ones_like(ids), ids[:, :1])
        torch.log_softmax(lm._model_call(ids, *further), dim=-1, dtype=lm.softmax_dtype)

    return footprint(lm, work)
