"""Plans which sequences of a tree are computed side by side by models with states, which no mask keeps apart.

Layers with states compute whole sequences, each after the state at its fork. So the tree is cut into branches; where
several begin at states that are kept, those of a length are computed side by side.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

import numpy as np

from afrieval.models.engine.tree import Ints, TokenTree

SAVED = 32  # tokens that a fork has to save, to be worth a pass of its own
UNEVEN = 16  # sequences of a length differ by at most this part of it
SHORT = 8  # tokens that a sequence counts for at least: states take memory whatever its length
PADDING = 8  # tokens by which sequences that nothing follows may differ, or a quarter of the longest


@dataclass
class TreeBranch:
    """Tokens that follow each other, and what follows them.

    Attributes:
        nodes: numbers of the tokens in the tree; some tokens are computed in several branches.
        first: number of the first token among all branches' tokens, which are numbered depth first.
        end: the number behind those of all descendants.
        children: branches that follow the last token.
        parent: place of the state that it continues.
    """

    nodes: Ints
    first: int = 0
    end: int = 0
    children: list["TreeBranch"] = field(default_factory=list)
    parent: int = 0

    def cut(self, length: int, again: bool = False) -> "TreeBranch":
        """Returns the first tokens of the branch; the others follow in a child, or in all its children (`again`).

        Some models compute single tokens in another way, that of writing (Zamba 2): none is left alone.
        """
        if not again and len(self.nodes) == length + 1:
            length = max(2, length - 1)
        rest = self.nodes[length:]
        if not len(rest):
            return self
        children = [TreeBranch(rest, self.first + length, self.end, self.children)]
        if again:
            children = [
                TreeBranch(np.concatenate([rest, child.nodes]), child.first - len(rest), child.end, child.children)
                for child in self.children
            ]
        return TreeBranch(self.nodes[:length], self.first, self.end, children, self.parent)


def branches(tree: TokenTree) -> list[TreeBranch]:
    """Returns the branches that begin at the roots of a tree; forks that save little are left out."""
    starts = [0, *(np.flatnonzero(np.diff(tree.end)) + 1).tolist()]  # an only child ends where its parent does
    root = TreeBranch(np.empty(0, dtype=np.int64))
    path = [(len(tree.tokens), root)]
    family: list[tuple[TreeBranch, TreeBranch]] = []
    for begin, stop in zip(starts, [*starts[1:], len(tree.tokens)], strict=True):
        while path[-1][0] <= begin:
            path.pop()
        branch = TreeBranch(np.arange(begin, stop))
        family.append((path[-1][1], branch))
        path.append((int(tree.end[begin]), branch))
    for parent, branch in reversed(family):  # so children are complete, the last one first
        branch.children.reverse()
        if branch.children and (len(branch.nodes) < 2 or len(branch.nodes) * (len(branch.children) - 1) < SAVED):
            for child in branch.children:
                child.nodes = np.concatenate([branch.nodes, child.nodes])
            parent.children += reversed(branch.children)
        else:
            parent.children.append(branch)
    root.children.reverse()
    _number(root)
    return root.children


def _number(root: TreeBranch) -> None:
    """Numbers tokens, with room before each branch for those of all its ancestors, which `cut` may move there."""
    number, path = 0, [iter([root])]
    ancestors: list[TreeBranch] = []
    while path:
        branch = next(path[-1], None)
        if branch is None:
            path.pop()
            if ancestors:
                ancestors.pop().end = number
            continue
        branch.first = number + sum(len(ancestor.nodes) for ancestor in ancestors)
        number = branch.first + len(branch.nodes)
        ancestors.append(branch)
        path.append(iter(branch.children))


def side_by_side(pending: Iterable[TreeBranch], size: int) -> list[list[TreeBranch]]:
    """Returns branches in groups of at most `size` tokens, padding included, or of one branch.

    Those that lead on come first; the last ones are computed first.

    Branches that others follow are cut to the same length, since padding would change their states.
    """
    fitting = sorted((branch.cut(size) for branch in pending), key=lambda branch: (len(branch.nodes), branch.first))
    parents = _groups((b for b in fitting if b.children), size, lambda first, length: length - first <= first // UNEVEN)
    leaves = (b for b in reversed(fitting) if not b.children)
    even = [[branch.cut(len(group[0].nodes), again=True) for branch in group] for group in reversed(parents)]
    return even + _groups(leaves, size, lambda first, length: first - length <= max(PADDING, first // 4))


def _groups(ordered: Iterable[TreeBranch], size: int, near: Callable[[int, int], bool]) -> list[list[TreeBranch]]:
    """Returns branches in groups of lengths that are near the first one's."""
    groups: list[list[TreeBranch]] = []
    for branch in ordered:
        first = len(groups[-1][0].nodes) if groups else 0
        if groups and (len(groups[-1]) + 1) * max(first, SHORT) <= size and near(first, len(branch.nodes)):
            groups[-1].append(branch)
        else:
            groups.append([branch])
    return groups


def halves(group: list[TreeBranch], length: int) -> list[list[TreeBranch]]:
    """Returns two groups instead of one, or a single branch cut to a length."""
    middle = len(group) // 2
    return [group[:middle], group[middle:]] if middle else [[group[0].cut(max(2, length))]]


def followers(group: list[TreeBranch], first: int) -> list[TreeBranch]:
    """Returns the children of branches whose states were stored, those of the first branch at place `first`."""
    for i, branch in enumerate(group):
        for child in branch.children:
            child.parent = first + i
    return [child for branch in group for child in branch.children]


def numbered(group: list[TreeBranch], depth: Ints) -> Ints:
    """Returns the numbers, ends and depths of a group's tokens, [3, tokens]; see `VisibleKeys`."""
    numbers = [branch.first + np.arange(len(branch.nodes)) for branch in group]
    ends = [np.full(len(branch.nodes), branch.end) for branch in group]
    return np.stack([np.concatenate(numbers), np.concatenate(ends), depth])
