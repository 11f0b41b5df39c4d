"""Shards of a test set, each in its published order and in shuffled ones."""

import hashlib
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np

from afrieval.tasks.memorisation.units import PARAGRAPH, Unit, unit_text
from afrieval.tasks.spec import TaskSpec

SHUFFLES = 15  # whose likelihoods are asked for
UNITS, FEWEST, BYTES = 10, 3, 8_000  # of a shard
PERMUTATIONS, LEVEL = 999, 0.01  # of the test whether rows are sorted
Kind = tuple[Hashable, ...]


@dataclass(frozen=True)
class Shard:
    """Adjacent units of a test set.

    Attributes:
        rows: ids of the first rows of its units.
        parts: the texts of its units.
        orders: places of the units in the published order, then in each of the shuffled ones.
    """

    rows: list[int]
    parts: list[str]
    orders: list[list[int]]

    @property
    def texts(self) -> list[str]:
        """The text of each order."""
        return [PARAGRAPH.join(self.parts[at] for at in order) for order in self.orders]


def sorted_by(spec: TaskSpec, units: Sequence[Unit]) -> list[str]:
    """Returns what the published rows are sorted by, of breakdown fields and right answers.

    A permutation test of the number of runs: rows with equal values stand together more often than by chance.

    Args:
        spec: the task.
        units: all units of a split.
    """
    return [name for name, values in _values(spec, units).items() if _in_runs(values)]


def kinds_of(spec: TaskSpec, units: Sequence[Unit], by: Sequence[str]) -> list[Kind]:
    """Returns the values of each unit in what rows are sorted by; only units that are equal in it change places."""
    values = _values(spec, units)
    return [tuple(values[name][at] for name in by) for at in range(len(units))]


def _values(spec: TaskSpec, units: Sequence[Unit]) -> dict[str, list[Hashable]]:
    found: dict[str, list[Hashable]] = {name: [unit[0].fields.get(name) for unit in units] for name in spec.breakdowns}
    by_choice = spec.scoring.answer.is_choice
    return found | ({"answer": [tuple(str(row.gold) for row in unit) for unit in units]} if by_choice else {})


def _in_runs(values: Sequence[Hashable]) -> bool:
    if len({*values}) < 2:
        return False
    _, codes = np.unique([str(value) for value in values], return_inverse=True)
    rng, equal = np.random.default_rng(0), int(np.sum(codes[1:] == codes[:-1]))
    drawn = (rng.permutation(codes) for _ in range(PERMUTATIONS))
    as_many = sum(int(np.sum(each[1:] == each[:-1])) >= equal for each in drawn)
    return (as_many + 1) / (PERMUTATIONS + 1) < LEVEL


def shards(spec: TaskSpec, units: Sequence[Unit], by: Sequence[str], seed: str) -> list[Shard]:
    """Returns the shards of a split in which some units can change places, in order.

    Args:
        spec: the task.
        units: all its units.
        by: what rows are sorted by.
        seed: the orders of a shard depend on it and on the shard's number.
    """
    texts = [unit_text(spec, unit) for unit in units]
    kinds, found = kinds_of(spec, units, by), []
    for number, places in enumerate(_places([len(text.encode()) for text in texts])):
        own = [kinds[at] for at in places]
        if len({*own}) == len(own):
            continue
        rng = np.random.default_rng(int.from_bytes(hashlib.sha256(f"{seed} {number}".encode()).digest()))
        orders = [list(range(len(own))), *(shuffled(own, rng) for _ in range(SHUFFLES))]
        rows, parts = [units[at][0].id for at in places], [texts[at] for at in places]
        found.append(Shard(rows, parts, orders))
    return found


def _places(sizes: Sequence[int]) -> list[list[int]]:
    """Returns the places of the units of each shard; a remainder of few units is part of the shard before it."""
    found: list[list[int]] = []
    for at, size in enumerate(sizes):
        last = found[-1] if found else []
        full = len(last) >= UNITS or sum(sizes[i] for i in last) + size > BYTES
        if not last or (full and len(last) >= FEWEST):
            found.append([at])
        else:
            last.append(at)
    if found[1:] and len(found[-1]) < FEWEST:
        remainder = found.pop()
        found[-1] += remainder
    return found


def shuffled(kinds: Sequence[Hashable], rng: np.random.Generator) -> list[int]:
    """Returns places in a random order in which each is taken by one of the same kind; it may be the published one.

    Every such order is equally likely, so that the published one is like the others if the rows are exchangeable.
    """
    order = list(range(len(kinds)))
    for kind in dict.fromkeys(kinds):
        of_kind = [at for at, own in enumerate(kinds) if own == kind]
        for place, taken in zip(of_kind, rng.permutation(of_kind).tolist(), strict=True):
            order[place] = taken
    return order
