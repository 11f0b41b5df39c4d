"""Our runs against runs of our exported tasks by the harness' own command, by what was sent to the model."""

import hashlib
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from afrieval.analysis.contrasts import Contrast, contrasts
from afrieval.grouping import grouped
from afrieval.results.scores import CellScores, Numbers


def beside(own: list[CellScores], foreign: list[CellScores], seed: int) -> list[Contrast]:
    """Returns the contrasts of each model of ours with each of the harness' runs.

    The two describe their data and prompts in different words, so neither can be checked against the other by those.
    Both keep a hash of each document and of each prompt as it was sent, examples and chat template included.

    Args:
        own: cells of our runs, with hashes of what was sent.
        foreign: cells of `foreign_cells`.
        seed: of bootstrap and permutations.
    """
    found = []
    for ours in grouped(own, lambda c: c.model).values():
        for theirs in grouped(foreign, lambda c: c.model).values():
            there = {_place(cell): cell for cell in theirs}
            pairs = [_alike(cell, there[_place(cell)]) for cell in ours if _place(cell) in there]
            found += contrasts([cell for pair in pairs for cell in pair], "model", seed)
    return found


def _place(cell: CellScores) -> tuple[object, ...]:
    return (cell.task, *cell.but("model").items())


def _alike(own: CellScores, foreign: CellScores) -> tuple[CellScores, CellScores]:
    """Returns both with what has to match over the documents that they share, and the settings that both have."""
    common = np.intersect1d(own.ids, foreign.ids)
    sides = [_sent(cell, common) for cell in (own, foreign)]
    musts = [
        {"task version": cell.must["task version"], **{what: sent[what] for what in sent if what in other}}
        for cell, sent, other in zip((own, foreign), sides, reversed(sides), strict=True)
    ]
    mays = _shared(own.may, foreign.may), _shared(foreign.may, own.may)
    return replace(own, must=musts[0], may=mays[0]), replace(foreign, must=musts[1], may=mays[1])


def _sent(cell: CellScores, rows: Numbers) -> dict[str, str]:
    """Returns a hash of all that was sent for some rows."""
    at = np.searchsorted(cell.ids, rows)
    return {what: hashlib.sha256(hashes[at].tobytes()).hexdigest()[:16] for what, hashes in cell.sent.items()}


def _shared(one: Mapping[str, object], other: Mapping[str, object]) -> dict[str, object]:
    """Returns the settings that the other has too, inside maps as well."""
    both = {}
    for name, value in one.items():
        if name in other:
            there = other[name]
            maps = isinstance(value, dict) and isinstance(there, dict)
            both[name] = _shared(value, there) if maps else value  # type: ignore[arg-type]
    return both
