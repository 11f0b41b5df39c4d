"""Tokens of texts by forward passes over padded batches: for models that the engine does not support."""

import logging
from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from accelerate.utils.memory import should_reduce_batch_size

from afrieval.models.engine.forward import inference
from afrieval.models.engine.likelihood import TokenRequest
from afrieval.models.engine.memory import too_small
from afrieval.models.engine.reading import Table, read

log = logging.getLogger("afrieval")


def tokens_in_batches(
    lm: Any, requests: list[TokenRequest], batch_size: int, vocabulary: bool = False
) -> Iterator[tuple[int, Table]]:
    """Yields the number of a request and what is known of its answer's tokens, as soon as it is.

    Args:
        lm: a model of the harness' hf backend, decoder-only or encoder-decoder.
        requests: (anything, tokens of the context, tokens of the answer); cut from the left as the harness does.
        batch_size: texts at a time; halved if the memory is full.
        vocabulary: whether mean and variance over the vocabulary are wanted too.

    Raises:
        UserError: if a single text needs too much memory.
    """
    order = sorted(range(len(requests)), key=lambda i: -len(requests[i][1] + requests[i][2]))
    done = 0
    while done < len(order):
        batch = order[done : done + batch_size]
        try:
            found = _batch(lm, [requests[i] for i in batch], vocabulary)
        except RuntimeError as e:
            if not should_reduce_batch_size(e):
                raise
            found = None
        if found is None:  # handled here, where what the pass had in memory is gone
            if len(batch) == 1:
                raise too_small(len(requests[batch[0]][1] + requests[batch[0]][2]))
            batch_size = len(batch) // 2
            log.warning("the device's memory is full; going on with %d texts at a time", batch_size)
            continue
        yield from zip(batch, found, strict=True)
        done += len(batch)


def _batch(lm: Any, requests: list[TokenRequest], vocabulary: bool) -> list[Table]:
    with inference(lm):
        every = logits_of(lm, requests)
    return [
        read(lm, logits, np.array(answer), np.arange(len(answer)), vocabulary)
        for logits, (_, _, answer) in zip(every, requests, strict=True)
    ]


def logits_of(lm: Any, requests: list[TokenRequest]) -> list[torch.Tensor]:
    """Returns the logits at the tokens of each answer, [tokens, vocabulary]."""
    if lm.backend == "seq2seq":
        ids, mask = padded(lm, [context[-lm.max_length :] for _, context, _ in requests])
        labels, _ = padded(lm, [answer for _, _, answer in requests])
        logits = lm.model(input_ids=ids, attention_mask=mask, labels=labels).logits
        return [row[: len(answer)] for row, (_, _, answer) in zip(logits, requests, strict=True)]
    rows = [(context + answer)[-(lm.max_length + 1) : -1] for _, context, answer in requests]
    logits = lm.model(padded(lm, rows)[0]).logits  # what is padded comes last, where no token sees it
    ends = [len(row) + logits.shape[1] - max(map(len, rows)) for row in rows]  # a tuned prompt adds positions
    return [found[end - len(a) : end] for found, end, (_, _, a) in zip(logits, ends, requests, strict=True)]


def padded(lm: Any, rows: list[list[int]]) -> tuple[torch.Tensor, torch.Tensor]:
    """Returns token ids, padded on the right, and where there are any."""
    longest = max(map(len, rows))
    ids = torch.tensor([[*row, *[0] * (longest - len(row))] for row in rows], dtype=torch.long)
    mask = torch.tensor([[1] * len(row) + [0] * (longest - len(row)) for row in rows])
    return ids.to(lm.device), mask.to(lm.device)
