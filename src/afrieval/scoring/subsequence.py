"""The longest common subsequence of two lists."""

from collections.abc import Hashable, Sequence


def n_common(a: Sequence[Hashable], b: Sequence[Hashable]) -> int:
    """Returns the length of the longest common subsequence of two lists.

    Each bit of a number is a place in `a`, so that one addition treats all of them at once: the
    algorithm of Hyyrö 2004, "Bit-parallel LCS-length computation revisited".
    """
    places: dict[Hashable, int] = {}
    for at, entry in enumerate(a):
        places[entry] = places.get(entry, 0) | 1 << at
    every = rest = (1 << len(a)) - 1
    for entry in b:
        matched = rest & places.get(entry, 0)
        rest = (rest + matched | rest - matched) & every
    return len(a) - rest.bit_count()
