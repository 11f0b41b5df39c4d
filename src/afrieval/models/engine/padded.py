"""Runs passes over padded batches, for encoder-decoders and models that the engine does not support, and gradients."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from itertools import groupby
from typing import Any

import numpy as np
import torch
from torch import Tensor
from transformers.cache_utils import DynamicCache, EncoderDecoderCache

from afrieval.models.engine.caches import cache_name
from afrieval.models.engine.forward import inference
from afrieval.models.engine.logits import Table, read
from afrieval.models.engine.requests import EngineError, EngineModel, TokenRequest, if_it_fits, too_small
from afrieval.models.engine.tree import Ints

log = logging.getLogger("afrieval")
CHOICES = 8  # answers for each context that a batch of an encoder-decoder has room for


def tokens_in_batches(
    lm: EngineModel, requests: list[TokenRequest], batch_size: int, vocabulary: bool = False
) -> Iterator[tuple[int, Table]]:
    """Yields the number of each request and the table of its answer's tokens, as soon as it is computed.

    Raises:
        EngineError: if a single text needs too much memory.
    """
    order = sorted(range(len(requests)), key=lambda i: -len(requests[i][1] + requests[i][2]))
    done = 0
    while done < len(order):
        batch = order[done : done + batch_size]
        tables = if_it_fits(partial(_batch, lm, [requests[i] for i in batch], vocabulary))
        if tables is None:
            if len(batch) == 1:
                raise too_small(len(requests[batch[0]][1] + requests[batch[0]][2]))
            batch_size = len(batch) // 2
            log.warning("the device's memory is full; going on with %d texts at a time", batch_size)
            continue
        yield from zip(batch, tables, strict=True)
        done += len(batch)


def _batch(lm: EngineModel, requests: list[TokenRequest], vocabulary: bool) -> list[Table]:
    with inference(lm):
        all_logits = logits_of(lm, requests)
    return [
        read(lm, logits, np.array(answer), np.arange(len(answer)), vocabulary)
        for logits, (_, _, answer) in zip(all_logits, requests, strict=True)
    ]


def logits_of(lm: EngineModel, requests: list[TokenRequest]) -> list[Tensor]:
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


def padded(lm: EngineModel, rows: list[list[int]]) -> tuple[Tensor, Tensor]:
    """Returns token ids, padded on the right, and where there are any."""
    longest = max(map(len, rows))
    ids = torch.tensor([[*row, *[0] * (longest - len(row))] for row in rows], dtype=torch.long)
    mask = torch.tensor([[1] * len(row) + [0] * (longest - len(row)) for row in rows])
    return ids.to(lm.device), mask.to(lm.device)


def passes(lm: EngineModel, requests: list[TokenRequest]) -> Iterator[tuple[Tensor, Ints, Ints, Ints]]:
    """Yields logits, tokens of answers, the row of each in the logits, and the number of its request.

    Requests with the same context must follow each other. The decoder begins with the same token whatever the answer:
    one step with it gives the first tokens' probabilities, and leaves the keys and values of the encoder's output in
    the cache, ready to be shared.
    """
    contexts = [(context, len(list(group))) for context, group in groupby(request[1] for request in requests)]
    answers = [answer for _, _, answer in requests]
    encoded, mask = padded(lm, [context for context, _ in contexts])
    which = np.repeat(np.arange(len(contexts)), [n for _, n in contexts])
    cache = EncoderDecoderCache(DynamicCache(), DynamicCache())
    shifted = getattr(lm.model, "prepare_decoder_input_ids_from_labels", None)
    begin = torch.zeros(1, 1, dtype=torch.long, device=lm.device)
    begin = shifted(begin) if shifted else begin + lm.model.config.decoder_start_token_id  # some have no such id
    start = begin.expand(len(contexts), 1)
    with inference(lm):
        states = lm.model.get_encoder()(input_ids=encoded, attention_mask=mask)
        shared = {"encoder_outputs": states, "attention_mask": mask, cache_name(lm.model): cache, "use_cache": True}
        first = lm.model(decoder_input_ids=start, **shared).logits[:, 0]
    yield first, np.array([answer[0] for answer in answers]), which, np.arange(len(answers))
    if (steps := max(map(len, answers)) - 1) == 0:
        return
    begun, _ = padded(lm, [answer[:-1] for answer in answers])
    with inference(lm):
        rows = torch.from_numpy(which).to(lm.device)
        cache.batch_select_indices(rows)
        states = type(states)(last_hidden_state=states.last_hidden_state[rows])
        shared |= {"encoder_outputs": states, "attention_mask": mask[rows]}
        later = lm.model(decoder_input_ids=begun, **shared).logits.flatten(0, 1)
    owner, step = np.array([(i, j) for i, answer in enumerate(answers) for j in range(len(answer) - 1)]).T
    yield later, np.array([token for answer in answers for token in answer[1:]]), owner * steps + step, owner


def gradient_norm(lm: EngineModel, windows: list[TokenRequest]) -> float:
    """Returns the mean over the model's parameter tensors of the 2-norm of the gradient of a text's mean loss.

    It says how strongly the text would change the model. Parameters that the loss does not depend on do not count. The
    model stays in the mode for evaluation, without dropout, so that the same text has the same norm each time.

    Raises:
        EngineError: if the device's memory is too small.
    """
    n = sum(len(answer) for _, _, answer in windows)

    def norms() -> list[float]:
        mixed = lm.mixed_precision_dtype
        with differentiable(lm.model) as parameters:
            total: list[Tensor | None] = [None] * len(parameters)
            for window in windows:
                with torch.enable_grad(), torch.autocast(lm.device.type, mixed, mixed is not None):
                    (logits,) = logits_of(lm, [window])
                    answer = torch.tensor(window[2], device=logits.device)
                    loss = torch.nn.functional.cross_entropy(logits.float(), answer, reduction="sum") / n
                    gradients = torch.autograd.grad(loss, parameters, allow_unused=True)
                for i, new in enumerate(gradients):  # of the window's share of the mean loss
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


@contextmanager
def differentiable(model: Any) -> Iterator[list[Tensor]]:
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
