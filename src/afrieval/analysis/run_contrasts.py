"""Which contrasts a set of runs holds: among ours, among the harness' runs, and between the two."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from afrieval._util.errors import UserError
from afrieval._util.grouping import grouped
from afrieval.analysis.contrasts import Contrast, contrasts
from afrieval.results.cell_scores import DIMENSIONS, CellScores, Numbers


def contrasts_with_lm_eval(own: list[CellScores], foreign: list[CellScores], seed: int) -> list[Contrast]:
    """Returns the contrasts of each model of ours with each of the harness' runs.

    The two describe their data and prompts in different words, so neither can be checked against the other by those.
    Both keep a hash of each document and of each prompt as it was sent, examples and chat template included.
    """
    found = []
    for ours in grouped(own, lambda c: c.model).values():
        for theirs in grouped(foreign, lambda c: c.model).values():
            there = {_place(cell): cell for cell in theirs}
            pairs = [_alike(cell, there[_place(cell)]) for cell in ours if _place(cell) in there]
            found += contrasts([cell for pair in pairs for cell in pair], "model", seed)
    return found


def _place(cell: CellScores) -> tuple[object, ...]:
    return (cell.task, *cell.without_dimensions("model").items())


def _alike(own: CellScores, foreign: CellScores) -> tuple[CellScores, CellScores]:
    """Returns both with what has to match over the documents that they share, and the settings that both have."""
    common = np.intersect1d(own.ids, foreign.ids)
    sides = [_sent(cell, common) for cell in (own, foreign)]
    musts = [
        {"task version": cell.comparable_on["task version"], **{what: sent[what] for what in sent if what in other}}
        for cell, sent, other in zip((own, foreign), sides, reversed(sides), strict=True)
    ]
    settings = own.recorded_settings, foreign.recorded_settings
    return (
        replace(own, comparable_on=musts[0], recorded_settings=_shared(*settings)),
        replace(foreign, comparable_on=musts[1], recorded_settings=_shared(*reversed(settings))),
    )


def _sent(cell: CellScores, rows: Numbers) -> dict[str, str]:
    """Returns a hash of all that was sent for some rows."""
    at = np.searchsorted(cell.ids, rows)
    return {what: hashlib.sha256(hashes[at].tobytes()).hexdigest()[:16] for what, hashes in cell.request_hashes.items()}


def _shared(one: Mapping[str, object], other: Mapping[str, object]) -> dict[str, object]:
    """Returns the settings that the other has too, inside maps as well."""
    both = {}
    for name, value in one.items():
        if name in other:
            there = other[name]
            maps = isinstance(value, dict) and isinstance(there, dict)
            both[name] = _shared(value, there) if maps else value  # type: ignore[arg-type]
    return both


MANY = ("prompt", "language")  # compared only if asked for: they have many pairs


def varying(cells: list[CellScores]) -> list[str]:
    """Returns the dimensions in which cells differ."""
    return [d for d in DIMENSIONS if len({c.dimensions[d] for c in cells}) > 1]


def all_contrasts(
    cells: list[CellScores], foreign: list[CellScores], wanted: Sequence[str] | None, seed: int
) -> list[Contrast]:
    """Returns the contrasts among our runs, among the harness' runs, and between the two.

    Args:
        cells: all that are compared.
        foreign: the cells among them of the harness' runs.
        wanted: dimensions; if none are given, all in which the cells differ but prompt and language.
        seed: of bootstrap and permutations.
    """
    dimensions = wanted or [d for d in varying(cells) if d not in MANY]
    ids = set(map(id, foreign))
    own, others = ([c for c in cells if (id(c) in ids) == is_foreign] for is_foreign in (False, True))
    found = [c for side in (own, others) for d in dimensions for c in contrasts(side, d, seed, cells)]
    return found + (contrasts_with_lm_eval(own, others, seed) if own and others and "model" in dimensions else [])


def check_compared(found: list[Contrast], cells: list[CellScores], needed: bool) -> None:
    """Refuses contrasts without a single pair.

    Raises:
        UserError: saying why nothing can be compared.
    """
    if any(c.rows for c in found):
        return
    if refused := [line for c in found for line in c.refused]:
        raise UserError(f"nothing can be compared: {refused[0]}", "compare runs of the same data, prompts and examples")
    if needed:
        of_tasks = grouped(cells, lambda cell: cell.task).values()
        names = [d for d in DIMENSIONS if any(d in varying(of_task) for of_task in of_tasks)]
        seen = f"their cells differ in {', '.join(names)}" if names else "they have the same cells"
        raise UserError(
            f"the runs share nothing that can be compared; {seen}",
            "give runs that differ in one thing: model, prompt language, shots or answer form"
            + ("; --contrast prompt compares prompts" if "prompt" in names else ""),
        )
