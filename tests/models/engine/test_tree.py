"""Trees of token sequences against a trie made of dictionaries."""

import itertools
from typing import Any

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from afrieval.models.engine.tree import TokenTree, build_tree

Sequences = list[tuple[list[int], int]]  # tokens, and how many of the last of them are asked for their next one
TOKENS = st.sampled_from([0, 1, 2, 255, 256, 70_000])  # bytes of several numbers must not be mistaken for one another
SEQUENCES: Any = st.lists(
    st.lists(TOKENS, min_size=1, max_size=8).flatmap(lambda row: st.tuples(st.just(row), st.integers(1, len(row)))),
    min_size=1,
    max_size=12,
)


def planted(sequences: Sequences) -> tuple[TokenTree, list[list[int]]]:
    answers = [[100 * i + j for j in range(n)] for i, (_, n) in enumerate(sequences)]
    return build_tree([row for row, _ in sequences], answers), answers


def naive(sequences: Sequences) -> set[tuple[int, ...]]:
    """Returns all beginnings there are: the nodes of the tree."""
    return {tuple(row[: i + 1]) for row, _ in sequences for i in range(len(row))}


def written(tree: TokenTree) -> list[tuple[int, ...]]:
    """Returns the tokens on the way to each node; its ancestors are those that do not end before it."""
    nodes = range(len(tree.tokens))
    ways = [[k for k in range(node + 1) if node < tree.end[k]] for node in nodes]
    return [tuple(int(tree.tokens[k]) for k in way) for way in ways]


@given(SEQUENCES)
@example([([1], 1), ([1], 1), ([1, 2], 2), ([2], 1)])
@example([([0], 1), ([0, 0], 1), ([0, 0, 0], 3)])
def test_nodes_are_the_distinct_beginnings(sequences: Sequences) -> None:
    tree, _ = planted(sequences)
    beginnings = naive(sequences)
    ways = written(tree)
    assert len(ways) == len(beginnings) and set(ways) == beginnings
    assert tree.depth.tolist() == [len(way) - 1 for way in ways]
    assert tree.longest == max(len(row) for row, _ in sequences)
    assert tree.tokens.dtype == tree.depth.dtype == tree.end.dtype == np.int64


@given(SEQUENCES)
def test_a_nodes_descendants_follow_it(sequences: Sequences) -> None:
    tree, _ = planted(sequences)
    ways = written(tree)
    for node, way in enumerate(ways):
        below = {k for k, other in enumerate(ways) if other[: len(way)] == way}
        assert below == set(range(node, int(tree.end[node])))


@given(SEQUENCES)
def test_each_answer_is_asked_for_where_its_tokens_are(sequences: Sequences) -> None:
    tree, answers = planted(sequences)
    ways = written(tree)
    assert tree.starts.tolist() == [0, *itertools.accumulate(n for _, n in sequences)]
    for i, (row, n) in enumerate(sequences):
        part = slice(tree.starts[i], tree.starts[i + 1])
        assert tree.answers[part].tolist() == answers[i]
        assert [ways[node] for node in tree.scored[part]] == [tuple(row[: len(row) - n + 1 + j]) for j in range(n)]
