"""Computes log-likelihoods with an encoder-decoder, which encodes each context once."""

import logging
from collections.abc import Callable
from functools import partial

import numpy as np

from afrieval.models.engine.logits import Table, read
from afrieval.models.engine.packs import Packs
from afrieval.models.engine.padded import CHOICES, passes
from afrieval.models.engine.requests import Answer, EngineModel, TokenRequest, if_it_fits, too_small
from afrieval.models.engine.tree import Ints

log = logging.getLogger("afrieval")


def encoder_decoder_loglikelihoods(
    lm: EngineModel, requests: list[TokenRequest], packs: Packs, answered: Callable[[int, Answer], None]
) -> list[Answer]:
    """Returns the log-likelihood of each answer and whether it is the greedy one, in the order of the requests.

    Raises:
        EngineError: if a single answer needs too much memory.
    """
    ordered, order = in_order(lm, requests)
    answers: list[Answer] = [(0.0, False)] * len(requests)
    most = most_contexts = len(requests)
    done = 0
    while done < len(order):
        batch = next_batch(lm, ordered, done, packs, most, most_contexts)
        computed = if_it_fits(partial(_batch, lm, batch))
        if computed is None:
            if len(batch) == 1:
                raise too_small(len(batch[0][1]))
            if (several := len({tuple(context) for _, context, _ in batch})) > 1:
                most_contexts = several // 2
            else:
                most = len(batch) // 2
            log.warning("the device's memory is full; going on with half of the %d answers at a time", len(batch))
            continue
        for i, answer in zip(order[done : done + len(batch)], computed, strict=True):
            answers[i] = answer
            answered(i, answer)
        done += len(batch)
    return answers


def in_order(lm: EngineModel, requests: list[TokenRequest]) -> tuple[list[TokenRequest], list[int]]:
    """Returns requests in the order in which they are computed, with contexts that fit, and their numbers."""
    fitting = [(texts, context[-lm.max_length :], answer) for texts, context, answer in requests]
    order = sorted(range(len(fitting)), key=lambda i: (-len(fitting[i][1]), fitting[i][1], len(fitting[i][2])))
    return [fitting[i] for i in order], order


def next_batch(
    lm: EngineModel, requests: list[TokenRequest], begin: int, packs: Packs, most: int, most_contexts: int
) -> list[TokenRequest]:
    """Returns as many of some requests, the longest contexts first, as are computed at a time, from one on."""
    length = len(requests[begin][1])
    together, scored = min(max(1, packs.size(lm, length) // length), most_contexts), packs.scored(lm)
    contexts: set[tuple[int, ...]] = set()
    size = longest = 0
    for _, context, answer in requests[begin : begin + min(most, CHOICES * together)]:
        contexts.add(tuple(context))
        longest = max(longest, len(answer))
        if size and (len(contexts) > together or (size + 1) * longest > scored):
            break
        size += 1
    return requests[begin : begin + size]


def _batch(lm: EngineModel, requests: list[TokenRequest]) -> list[Answer]:
    parts = [(read(lm, logits, asked, where), owner) for logits, asked, where, owner in passes(lm, requests)]
    return summed(np.concatenate([found for found, _ in parts], axis=1), np.concatenate([owner for _, owner in parts]))


def summed(table: Table, owner: Ints) -> list[Answer]:
    """Returns the answers that tokens belong to: the sum of their log-probabilities, and whether all are greedy."""
    likelihoods, missed = np.bincount(owner, table[0]), np.bincount(owner, 1 - table[1])
    return [(float(value), not misses) for value, misses in zip(likelihoods, missed, strict=True)]
