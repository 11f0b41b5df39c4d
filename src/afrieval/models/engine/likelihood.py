"""Computes log-likelihoods: decoder-only models read a tree of all prompts, encoder-decoders each context once."""

import logging
from collections.abc import Callable, Iterator
from functools import partial

import numpy as np
import torch
from torch import Tensor

from afrieval.models.engine.branches import branches, followers, halves, numbered, side_by_side
from afrieval.models.engine.caches import PathCache, RowLayout, has_states
from afrieval.models.engine.forward import Forward
from afrieval.models.engine.logits import Table, read
from afrieval.models.engine.packs import Packs
from afrieval.models.engine.padded import CHOICES, passes
from afrieval.models.engine.requests import Answer, EngineModel, TokenRequest, if_it_fits, too_small
from afrieval.models.engine.tree import Ints, TokenTree, build_tree
from afrieval.models.engine.tree_attention import VisibleKeys

log = logging.getLogger("afrieval")


def loglikelihoods(
    lm: EngineModel, requests: list[TokenRequest], packs: Packs, answered: Callable[[int, Answer], None]
) -> list[Answer]:
    """Returns the log-likelihood of each answer and whether it is the greedy one, in the order of the requests.

    Args:
        lm: a model of the harness' hf backend.
        requests: (anything, tokens of the context, tokens of the answer); cut from the left as the harness does.
        packs: how much is computed at a time.
        answered: called with the number of a request and its answer as soon as it is known.

    Raises:
        EngineError: if a few tokens need too much memory.
    """
    answers: list[Answer] = [(0.0, False)] * len(requests)
    for i, (logprobs, greedy) in tokens_in_tree(lm, requests, packs):
        answers[i] = (float(logprobs.sum()), bool(greedy.all()))
        answered(i, answers[i])
    return answers


def tokens_in_tree(
    lm: EngineModel, requests: list[TokenRequest], packs: Packs, vocabulary: bool = False
) -> Iterator[tuple[int, Table]]:
    """Yields the number of each request and the table of its answer's tokens, as soon as it is computed."""
    if not requests:
        return
    room = lm.max_length + 1
    sequences = [np.array((context + answer)[-room:-1], dtype=np.int32) for _, context, answer in requests]
    tree = build_tree(sequences, [answer for _, _, answer in requests])
    owner = np.repeat(np.arange(len(requests)), np.diff(tree.starts))
    left = np.diff(tree.starts)
    table = np.zeros((4 if vocabulary else 2, len(tree.scored)))
    compute = _rows if has_states(lm.model) else _packs
    for entries, part in compute(lm, tree, packs, vocabulary):
        table[:, entries] = part
        np.subtract.at(left, owner[entries], 1)
        for i in np.unique(owner[entries]):
            if not left[i]:
                yield int(i), table[:, tree.starts[i] : tree.starts[i + 1]]


def _packs(lm: EngineModel, tree: TokenTree, packs: Packs, vocabulary: bool) -> Iterator[tuple[Ints, Table]]:
    """Yields entries of `scored`, and what is read of each, pack by pack.

    What a pack leaves in the cache are the ancestors of the next node: whatever comes later sees no others of it. So
    the cache never holds more than the longest sequence and a pack.
    """
    by_node = np.argsort(tree.scored, kind="stable")
    nodes = np.unique(tree.scored)
    size = packs.size(lm, tree.longest)
    cache = PathCache(lm.model, min(tree.longest + size, len(tree.tokens)))
    forward = Forward(lm, cache)
    tokens, depth = (torch.from_numpy(a).to(lm.device) for a in (tree.tokens, tree.depth))
    cached = np.empty(0, dtype=np.int64)
    begin = 0
    while begin < len(tree.tokens):
        end = min(begin + size, len(tree.tokens))
        if (beyond := int(np.searchsorted(nodes, begin)) + packs.scored(lm)) < len(nodes):  # as many may be scored
            end = min(end, int(nodes[beyond]))
        keys = np.concatenate([cached, np.arange(begin, end)])
        view = VisibleKeys(keys, tree.end[keys], tree.depth[keys], len(cached))
        first, behind = np.searchsorted(tree.scored, [begin, end], sorter=by_node)
        entries = by_node[first:behind]
        scored_nodes, where = np.unique(tree.scored[entries], return_inverse=True)
        cache.write_at(slice(len(cached), len(keys)), len(keys))
        logits = partial(forward, tokens[begin:end], depth[begin:end], view, (scored_nodes - begin).tolist())
        result = if_it_fits(partial(_read, lm, logits, tree.answers[entries], where, vocabulary))
        if result is None:
            size = packs.reduce(end - begin, size)
            continue
        yield entries, result
        stay = np.flatnonzero(tree.end[keys] > end)
        cache.keep(torch.from_numpy(stay))
        cached, begin = keys[stay], end


def _rows(lm: EngineModel, tree: TokenTree, packs: Packs, vocabulary: bool) -> Iterator[tuple[Ints, Table]]:
    """Yields entries of `scored`, and what is read of each, from branches of the tree that are computed side by side.

    What follows some branches comes before their neighbours, so that few states and keys are kept.
    """
    size, scored = packs.size(lm, tree.longest), max(3, packs.scored(lm))  # a branch is not cut to a single token
    cache = PathCache(lm.model, min(tree.longest + size, len(tree.tokens)))
    forward = Forward(lm, cache)
    by_node = np.argsort(tree.scored, kind="stable")
    unread = np.bincount(tree.scored, minlength=len(tree.tokens)) > 0
    no_keys = np.empty((3, 0), dtype=np.int64)
    levels = [
        (no_keys, 0, side_by_side(branches(tree), size))
    ]  # numbers, ends and depths of keys; states; what is left to do
    while levels:
        before, _, pending = levels[-1]
        group = pending.pop()
        nodes = np.concatenate([branch.nodes for branch in group])
        read, index = np.unique(nodes, return_index=True)  # a token that several branches have is read in one of them
        read, index = read[unread[read]], index[unread[read]]
        if len(read) > scored:
            pending += halves(group, np.sort(index)[scored])
            continue
        keys = np.concatenate([before, numbered(group, tree.depth[nodes])], axis=1)
        rows = RowLayout.of([len(branch.nodes) for branch in group], lm.device)
        cache.write_at(slice(before.shape[1], keys.shape[1]), keys.shape[1], rows)
        cache.load(torch.tensor([branch.parent for branch in group]) if before.shape[1] else None)
        begins, stops = (np.searchsorted(tree.scored, read, side, sorter=by_node) for side in ("left", "right"))
        entries = by_node[np.concatenate([np.arange(*pair) for pair in zip(begins, stops, strict=True)] or [begins])]
        tokens, depth = (torch.from_numpy(a[nodes]).to(lm.device) for a in (tree.tokens, tree.depth))
        logits = partial(
            forward, tokens, depth, VisibleKeys(keys[0], keys[1], keys[2], before.shape[1]), index.tolist(), rows
        )
        where = np.repeat(np.arange(len(read)), stops - begins)
        result = if_it_fits(partial(_read, lm, logits, tree.answers[entries], where, vocabulary))
        if result is None:
            size = min(size, packs.reduce(rows.number * rows.length, size))
            pending += side_by_side(group, size)
            continue
        unread[read] = False
        yield entries, result
        if not pending:
            levels.pop()
        if group[0].children:
            first = levels[-1][1] if levels else 0
            cache.store(torch.arange(first, first + len(group)), first + len(group))
            levels.append((keys, first + len(group), side_by_side(followers(group, first), size)))


def _read(lm: EngineModel, logits: Callable[[], Tensor], answers: Ints, where: Ints, vocabulary: bool) -> Table:
    return read(lm, logits(), answers, where, vocabulary)  # nothing keeps the logits until those of the next pack


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
