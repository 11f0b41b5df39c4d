"""Which contrasts a set of runs holds: among ours, among the harness' runs, and between the two."""

from collections.abc import Sequence

from afrieval.analysis.contrasts import Contrast, contrasts
from afrieval.analysis.with_harness import beside
from afrieval.errors import UserError
from afrieval.grouping import grouped
from afrieval.results.scores import DIMENSIONS, CellScores

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
        foreign: those of them that are of the harness' runs.
        wanted: dimensions; if none are given, all in which the cells differ but prompt and language.
        seed: of bootstrap and permutations.
    """
    dimensions = wanted or [d for d in varying(cells) if d not in MANY]
    ids = set(map(id, foreign))
    own, others = ([c for c in cells if (id(c) in ids) == is_foreign] for is_foreign in (False, True))
    found = [c for side in (own, others) for d in dimensions for c in contrasts(side, d, seed, cells)]
    return found + (beside(own, others, seed) if own and others and "model" in dimensions else [])


def check_compared(found: list[Contrast], cells: list[CellScores], needed: bool) -> None:
    """Refuses contrasts without a single pair.

    Args:
        found: the contrasts.
        cells: those compared.
        needed: whether it is an error that there is none; one that was refused always is.

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
