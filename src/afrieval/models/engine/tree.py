"""Builds the tree of token sequences, in which each shared beginning occurs once."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class TokenTree:
    """Sequences of tokens, numbered depth first: a node's descendants are the nodes that follow it, up to `end`.

    Attributes:
        tokens: of each node.
        depth: of each node, which is the position of its token in its sequences; roots have 0.
        end: the first node behind each node's descendants. Node k is k itself or an ancestor of q if k <= q < end[k].
        scored: nodes whose next token is asked for, sequence by sequence.
        answers: the token asked for at each of `scored`.
        starts: where each sequence begins in `scored`, and where the last one ends.
    """

    tokens: Ints
    depth: Ints
    end: Ints
    scored: Ints
    answers: Ints
    starts: Ints

    @property
    def longest(self) -> int:
        """Length of the longest sequence."""
        return int(self.depth.max()) + 1


def build_tree(sequences: Sequence[Sequence[int] | NDArray[np.int32]], answers: Sequence[Sequence[int]]) -> TokenTree:
    """Returns the tree of sequences, none empty; answers are the tokens asked for after the last tokens of each."""
    rows = [np.asarray(s, dtype=np.int32) for s in sequences]
    keys = [row.astype(">u4").tobytes() for row in rows]  # compared as bytes, they sort as tuples do, only faster
    order = sorted(range(len(rows)), key=keys.__getitem__)
    shared = [0, *(common(rows[a], rows[b]) for a, b in pairwise(order))]
    n = sum(len(rows[i]) - s for i, s in zip(order, shared, strict=True))
    tokens, depth, end = (np.empty(n, dtype=np.int64) for _ in range(3))
    starts = np.cumsum([0, *(len(a) for a in answers)])
    scored = np.empty(starts[-1], dtype=np.int64)
    path = np.empty(max(map(len, rows)), dtype=np.int64)  # the nodes of the sequence at hand
    node = length = 0
    for i, s in zip(order, shared, strict=True):
        row, new = rows[i], node + len(rows[i]) - s
        end[path[s:length]] = node
        length = len(row)
        path[s:length] = np.arange(node, new)
        tokens[node:new], depth[node:new] = row[s:], np.arange(s, length)
        scored[starts[i] : starts[i + 1]] = path[length - len(answers[i]) : length]
        node = new
    end[path[:length]] = node
    answer_tokens = np.fromiter((token for a in answers for token in a), dtype=np.int64, count=int(starts[-1]))
    return TokenTree(tokens, depth, end, scored, answer_tokens, starts)


def common(a: NDArray[np.int32], b: NDArray[np.int32]) -> int:
    """Returns how many tokens two sequences share from the beginning."""
    n = min(len(a), len(b))
    different = np.flatnonzero(a[:n] != b[:n])
    return int(different[0]) if len(different) else n
