"""Log-likelihoods of answers by a decoder-only model, every token of the prompts computed once."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import torch
from accelerate.utils.memory import should_reduce_batch_size
from numpy.typing import NDArray

from afrieval.models.engine.forward import Forward
from afrieval.models.engine.memory import Packs
from afrieval.models.engine.ties import most_probable
from afrieval.models.engine.tree import Ints, Tree, plant

TokenRequest = tuple[Any, list[int], list[int]]
Answer = tuple[float, bool]


def loglikelihoods(
    lm: Any, requests: list[TokenRequest], packs: Packs, answered: Callable[[int, Answer], None]
) -> list[Answer]:
    """Returns the log-likelihood of each answer and whether it is the greedy one, in the order of the requests.

    Args:
        lm: a model of the harness' hf backend.
        requests: (anything, tokens of the context, tokens of the answer); cut from the left as the harness does.
        packs: how much is computed at a time.
        answered: called with the number of a request and its answer as soon as it is known.

    Raises:
        UserError: if a few tokens need too much memory.
    """
    if not requests:
        return []
    room = lm.max_length + 1
    sequences = [np.array((context + answer)[-room:-1], dtype=np.int32) for _, context, answer in requests]
    tree = plant(sequences, [answer for _, _, answer in requests])
    last = tree.scored[tree.starts[1:] - 1]
    by_last = np.argsort(last, kind="stable")
    values, greedy = np.zeros(len(tree.scored)), np.zeros(len(tree.scored), dtype=bool)
    answers: list[Answer] = [(0.0, False)] * len(requests)
    done = 0
    for end, entries, logprobs, best in _packs(lm, tree, packs):
        values[entries], greedy[entries] = logprobs, best
        ready = int(np.searchsorted(last, end, sorter=by_last))
        for i in by_last[done:ready]:
            part = slice(tree.starts[i], tree.starts[i + 1])
            answers[i] = (float(values[part].sum()), bool(greedy[part].all()))
            answered(int(i), answers[i])
        done = ready
    return answers


def _packs(lm: Any, tree: Tree, packs: Packs) -> Iterator[tuple[int, Ints, NDArray[np.float64], NDArray[np.bool_]]]:
    """Yields the first node behind a pack, the entries of `scored` in it, their log-probabilities, if they are greedy.

    What a pack leaves in the cache are the ancestors of the next node: whatever comes later sees no others of it. So
    the cache never holds more than the longest sequence and a pack.
    """
    by_node = np.argsort(tree.scored, kind="stable")
    nodes = np.unique(tree.scored)
    size = packs.size(lm, tree.longest)
    forward = Forward(lm, min(tree.longest + size, len(tree.tokens)))
    tokens, depth, ends = (torch.from_numpy(a).to(lm.device) for a in (tree.tokens, tree.depth, tree.end))
    cached = torch.empty(0, dtype=torch.long, device=lm.device)
    begin = 0
    while begin < len(tree.tokens):
        end = _end(begin, size, nodes, packs.scored(lm), len(tree.tokens))
        keys = torch.cat([cached, torch.arange(begin, end, device=lm.device)])
        first, behind = np.searchsorted(tree.scored, [begin, end], sorter=by_node)
        entries = by_node[first:behind]
        at, where = np.unique(tree.scored[entries], return_inverse=True)
        queries = keys[len(cached) :]
        sees = (keys <= queries[:, None]) & (queries[:, None] < ends[keys])
        try:  # no name for the logits: they would stay in memory beside those of the next pack
            result = _read(
                lm,
                forward(tokens[begin:end], depth[begin:end], sees, depth[keys], (at - begin).tolist()),
                tree.answers[entries],
                where,
            )
        except RuntimeError as e:
            if not should_reduce_batch_size(e):
                raise
            result = None
        if result is None:  # handled here, where what the pass had in memory is gone
            size = packs.reduce(end - begin, size)
            forward.cache.crop(len(cached))
            continue
        yield end, entries, *result
        stay = torch.nonzero(ends[keys] > end)[:, 0]
        forward.cache.keep(stay)
        cached, begin = keys[stay], end


def _end(begin: int, size: int, nodes: Ints, most: int, n: int) -> int:
    """Returns where a pack ends that begins at a node: it has at most `size` tokens, `most` of them scored."""
    end = min(begin + size, n)
    beyond = int(np.searchsorted(nodes, begin)) + most
    return min(end, int(nodes[beyond])) if beyond < len(nodes) else end


def _read(lm: Any, logits: torch.Tensor, answers: Ints, where: Ints) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Returns the log-probabilities of answer tokens, and whether each is the most probable one.

    Args:
        lm: the model.
        logits: [positions, vocabulary].
        answers: token ids.
        where: the position of each.
    """
    rows, asked = torch.from_numpy(where).to(logits.device), torch.from_numpy(answers).to(logits.device)
    logprobs = torch.log_softmax(logits, dim=-1, dtype=lm.softmax_dtype)[rows, asked]
    greedy = most_probable(logits)[rows] == asked
    return logprobs.double().cpu().numpy(), greedy.cpu().numpy()
