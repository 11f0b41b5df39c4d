"""Which contrasts a set of runs holds: among ours, among the harness' runs, and between the two."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from afrieval._util.errors import UserError
from afrieval._util.grouping import grouped
from afrieval.analysis.contrasts import Contrast, contrasts
from afrieval.analysis.ranks import compared, contest, half_widths, with_right
from afrieval.analysis.suites import factor_of, percent
from afrieval.analysis.uncertainty import interval_of, weighted_mean
from afrieval.analysis.verdicts import Floor, mean_not_above
from afrieval.results.cell_scores import DIMENSIONS, CellScores
from afrieval.scoring.statistics.intervals import Interval
from afrieval.scoring.statistics.tests import Z_POWER, direction


def contrasts_with_lm_eval(cells: list[CellScores], foreign: list[CellScores], seed: int) -> list[Contrast]:
    """Returns the contrasts of each model of ours with each of the harness' runs.

    The two describe their data and prompts in different words, so neither can be checked against the other by those.
    Both keep a hash of each document and of each prompt as it was sent, examples and chat template included.
    """
    comparisons = []
    for ours in grouped(cells, lambda c: c.model).values():
        for theirs in grouped(foreign, lambda c: c.model).values():
            counterparts = {_key(cell): cell for cell in theirs}
            pairs = [_alike(cell, counterparts[_key(cell)]) for cell in ours if _key(cell) in counterparts]
            comparisons += contrasts([cell for pair in pairs for cell in pair], "model", seed)
    return comparisons


def _key(cell: CellScores) -> tuple[object, ...]:
    return (cell.task, *cell.without_dimensions("model").items())


def _alike(ours: CellScores, foreign: CellScores) -> tuple[CellScores, CellScores]:
    """Returns both with what has to match over the documents that they share, and the settings that both have."""
    common = np.intersect1d(ours.ids, foreign.ids)
    sides = [
        {  # one hash of the documents, and one of the prompts, that were sent
            what: hashlib.sha256(hashes[np.searchsorted(cell.ids, common)].tobytes()).hexdigest()[:16]
            for what, hashes in cell.request_hashes.items()
        }
        for cell in (ours, foreign)
    ]
    musts = [
        {"task version": cell.comparable_on["task version"], **{what: sent[what] for what in sent if what in other}}
        for cell, sent, other in zip((ours, foreign), sides, reversed(sides), strict=True)
    ]
    settings = ours.recorded_settings, foreign.recorded_settings
    return (
        replace(ours, comparable_on=musts[0], recorded_settings=_shared(*settings)),
        replace(foreign, comparable_on=musts[1], recorded_settings=_shared(*reversed(settings))),
    )


def _shared(one: Mapping[str, object], other: Mapping[str, object]) -> dict[str, object]:
    """Returns the settings that the other has too, inside maps as well."""
    both = {}
    for name, value in one.items():
        if name in other:
            other_value = other[name]
            maps = isinstance(value, dict) and isinstance(other_value, dict)
            both[name] = _shared(value, other_value) if maps else value  # type: ignore[arg-type]
    return both


MANY = ("prompt", "language")  # compared only if asked for: they have many pairs


def varying(cells: list[CellScores]) -> list[str]:
    """Returns the dimensions in which cells differ."""
    return [d for d in DIMENSIONS if len({c.dimensions[d] for c in cells}) > 1]


def all_contrasts(
    cells: list[CellScores], foreign: list[CellScores], dimensions: Sequence[str] | None, seed: int
) -> list[Contrast]:
    """Returns the contrasts among our runs, among the harness' runs, and between the two.

    Args:
        cells: all that are compared.
        foreign: the cells among them of the harness' runs.
        dimensions: if none are given, all in which the cells differ but prompt and language.
        seed: of bootstrap and permutations.
    """
    dimensions = dimensions or [d for d in varying(cells) if d not in MANY]
    ids = set(map(id, foreign))  # cells of two programs may be equal
    ours, others = ([c for c in cells if (id(c) in ids) == is_foreign] for is_foreign in (False, True))
    comparisons = [c for side in (ours, others) for d in dimensions for c in contrasts(side, d, seed, cells)]
    return comparisons + (
        contrasts_with_lm_eval(ours, others, seed) if ours and others and "model" in dimensions else []
    )


class AverageDifference(NamedTuple):
    """How two models differ on average over tasks of the means over African languages, on the same questions.

    Numbers are in percent of the metrics' ranges; the interval, the test and `detectable` are those of ranks.

    Attributes:
        contrasts: of each task, without rows that means leave out.
        n: the smallest number of questions in a task and language.
        floor, verdict, open: as in `Difference`.
    """

    contrasts: list[Contrast]
    first: float
    second: float
    interval: Interval
    p: float
    detectable: float
    n: int
    floor: Floor | None
    verdict: int
    open: bool


def average_differences(comparisons: Sequence[Contrast]) -> list[AverageDifference]:
    """Returns the average difference of two models, for each language of prompts and other setting that they share.

    None if there are more models, or if each difference is of a single task and language, which the contrast has.
    """
    models = [c for c in comparisons if c.dimension == "model"]
    fitting = [replace(c, rows=[row for row in c.rows if row.is_averaged]) for c in models]
    fitting = [c for c in fitting if c.rows and c.metric and c.metric.interval != "none" and percent(c.metric)]
    several = len({(c.first, c.second) for c in models}) > 1
    groups = {} if several else grouped(fitting, lambda c: tuple(c.fixed.items()))
    return [_average_difference(of) for of in groups.values() if sum(len(c.rows) for c in of) > 1]


def _average_difference(comparisons: list[Contrast]) -> AverageDifference:
    group_of = {task: group for c in comparisons[0].cells for group, tasks in c.suite_groups.items() for task in tasks}
    groups = grouped(comparisons, lambda c: group_of.get(c.task, c.task))
    contests = [
        contest([[cell for row in c.rows for cell in row.sides[at].cells] for at in (0, 1)], 1 / len(groups) / len(of))
        for of in groups.values()
        for c in of
    ]
    # In each case the verdict is to be the same: as read, and with all unparsed answers of one model right.
    cases = [
        {direction(means[pair], p_values[pair]) for pair in ((1, 0), (-1, 0), (1, -2))}  # as read, and right
        for means, p_values in (compared(with_right(contests), drawn) for drawn in (True, False))
    ]
    means, p_values = compared(contests)
    half, error = (float(of[1, 0]) for of in half_widths(contests))
    is_open, verdict = max(map(len, cases)) > 1, direction(means[1, 0], p_values[1, 0])
    first, second = (weighted_mean(each.share(at) for each in contests) for at in (0, 1))
    difference, index, score = float(means[1, 0]), int(second > first), max(first, second)
    better = [each.share(index) for each in contests]
    sides = [row.sides[index] for c in comparisons for row in c.rows]
    low = mean_not_above(sides, score, interval_of(better), factor_of) if verdict else None
    return AverageDifference(
        contrasts=comparisons,
        first=first,
        second=second,
        interval=Interval(difference - half, difference + half),
        p=float(p_values[1, 0]),
        detectable=half + Z_POWER * error,
        n=min(row.n for c in comparisons for row in c.rows),
        floor=low,
        verdict=0 if is_open or low else verdict,
        open=is_open,
    )


def check_compared(comparisons: list[Contrast], cells: list[CellScores], needed: bool) -> None:
    """Refuses contrasts without a single pair.

    Raises:
        UserError: saying why nothing can be compared.
    """
    if any(c.rows for c in comparisons):
        return
    if refused := [line for c in comparisons for line in c.refused]:
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
