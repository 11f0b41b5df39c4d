"""Branches of a tree hold every sequence whole, see only their ancestors, and are grouped without harm to states."""

from collections.abc import Iterator

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.models.engine.test_tree_attention import drawn_tree, sequences_of

from afrieval.models.engine.branches import (
    SAVED,
    TreeBranch,
    branches,
    followers,
    halves,
    numbered,
    side_by_side,
)
from afrieval.models.engine.tree import TokenTree, build_tree

TREES = st.builds(drawn_tree, st.integers(0, 2**20), st.integers(0, 9), st.integers(1, 90))


def paths(level: list[TreeBranch], before: tuple[TreeBranch, ...] = ()) -> Iterator[tuple[TreeBranch, ...]]:
    """Yields the branches from a root to each branch."""
    for branch in level:
        yield (*before, branch)
        yield from paths(branch.children, (*before, branch))


def passes(roots: list[TreeBranch], size: int) -> Iterator[list[tuple[TreeBranch, ...]]]:
    """Yields the groups that are computed, each branch with those before it, as they were cut."""
    pending: list[tuple[dict[int, tuple[TreeBranch, ...]], list[list[TreeBranch]]]] = [({}, side_by_side(roots, size))]
    while pending:
        ancestors, groups = pending[-1]
        if not groups:
            pending.pop()
            continue
        group = groups.pop()
        yield [(*ancestors.get(branch.parent, ()), branch) for branch in group]
        if group[0].children:
            first = 1000 * len(pending)
            kept = {first + i: (*ancestors.get(b.parent, ()), b) for i, b in enumerate(group)}
            pending.append((kept, side_by_side(followers(group, first), size)))


def nodes_of(path: tuple[TreeBranch, ...]) -> list[int]:
    return [int(node) for branch in path for node in branch.nodes]


@given(TREES)
def test_each_sequence_is_a_path(tree: TokenTree) -> None:
    ancestors = sequences_of(tree)
    ends = set[int]()
    for path in paths(branches(tree)):
        nodes = nodes_of(path)
        assert nodes == sorted(ancestors[nodes[-1]])
        ends |= set(nodes)
    assert ends == set(range(len(tree.tokens)))


@settings(max_examples=60)
@given(TREES, st.integers(1, 40))
def test_each_token_is_computed_after_all_before_it_and_sees_no_others(tree: TokenTree, size: int) -> None:
    check(tree, size)


def check(tree: TokenTree, size: int) -> None:
    ancestors = sequences_of(tree)
    read = set[int]()
    for group in passes(branches(tree), size):
        longest = max(len(path[-1].nodes) for path in group)
        assert len(group) == 1 or len(group) * longest <= size
        if group[0][-1].children:
            assert all(len(path[-1].nodes) == longest for path in group), "padding would change their states"
            assert longest > 1 or size < 3 or len(group[0]) == 1, "one that continues a state"
        keys = [numbered([*path], tree.depth[nodes_of(path)]) for path in group]
        for path, (numbers, ends, depth) in zip(group, keys, strict=True):
            nodes = nodes_of(path)
            assert nodes == sorted(ancestors[nodes[-1]]) and depth.tolist() == list(range(len(nodes)))
            assert (numbers[-1] < ends).all() and (np.diff(numbers) > 0).all()
            for other_numbers, other_ends, _ in keys:
                strange = ~np.isin(other_numbers, numbers)
                seen = (other_numbers <= numbers[:, None]) & (numbers[:, None] < other_ends)
                assert not seen[:, strange].any()
            read |= set(nodes)
    assert read == set(range(len(tree.tokens)))


def test_what_is_moved_down_keeps_its_place_in_the_order() -> None:
    """Of three long roots cut to the shortest, each passes 46 or 49 tokens on to forks of 2 tokens and 20 answers."""
    sequences = [
        [i] * n + [fork] * 2 + [answer, 9]
        for i, n in enumerate((800, 846, 849))
        for fork in (5, 6)
        for answer in range(20)
    ]
    tree = build_tree(sequences, [[0]] * len(sequences))
    check(tree, 4096)


def test_a_fork_that_saves_little_is_left_out() -> None:
    head = list(range(100))
    for saved, levels in ((SAVED - 1, 2), (SAVED, 3)):
        first, second = head + [1000] * saved, head + [2000] * 50
        tree = build_tree([[*first, 7], [*first, 8], second], [[0]] * 3)
        assert max(map(len, paths(branches(tree)))) == levels


def test_branches_of_about_a_length_are_computed_together() -> None:
    """Questions of 64 to 67 tokens, each with two answers: what is beyond 64 is computed with both."""
    questions = [[1] * 40 + [100 + i] * (64 + i) for i in range(4)]
    tree = build_tree([q + [answer] * 3 for q in questions for answer in (5, 6)], [[0]] * 8)
    groups = [[len(path[-1].nodes) for path in group] for group in passes(branches(tree), 512)]
    assert groups == [[40], [64] * 4, [6, 6, 5, 5, 4, 4, 3, 3]]


def test_halves() -> None:
    one, two, three = (TreeBranch(np.arange(i, i + 4)) for i in (0, 10, 20))
    assert halves([one, two, three], 2) == [[one], [two, three]]
    ((first,),) = halves([one], 2)
    assert (first.nodes.tolist(), first.children[0].nodes.tolist()) == ([0, 1], [2, 3])


def test_no_single_token_is_left_alone() -> None:
    branch = TreeBranch(np.arange(9))
    assert [len(branch.cut(length).nodes) for length in (9, 8, 7)] == [9, 7, 7]
    assert len(branch.cut(8).children[0].nodes) == 2
