"""Sides: the columns of a report, which are models, and settings of one model where these differ."""

from collections.abc import Sequence
from typing import NamedTuple

from afrieval.analysis.rows import OWN
from afrieval.grouping import grouped
from afrieval.report.contrasts import side_name
from afrieval.report.scores import WRITTEN
from afrieval.report.values import titled
from afrieval.results.scores import CellScores
from afrieval.results.selection import words
from afrieval.scoring.base import Metric

SETTINGS = ("shots", "answer_form", "prompt_set")


class Part(NamedTuple):
    """Scores that can be compared: of one task, under one metric, with prompts in one language.

    Attributes:
        kind: language of the prompts: `eng` or `native`.
        sides: name to cells.
        named: whether its title says the language of the prompts.
    """

    task: str
    kind: str
    metric: Metric
    sides: dict[str, list[CellScores]]
    named: bool

    @property
    def title(self) -> str:
        """Returns what it is called."""
        every = [cell for cells in self.sides.values() for cell in cells]
        rows = OWN if any(cell.own_rows for cell in every) else words(cell.selection for cell in every)
        written = f"{WRITTEN[self.kind]} prompts" if self.named else ""
        return ", ".join(filter(None, (titled(self.task, self.metric), written, rows)))

    @property
    def concluding(self) -> list[str]:
        """The sides from whose scores something can be concluded."""
        return [side for side, cells in self.sides.items() if all(cell.concludes for cell in cells)]


def by_side(cells: Sequence[CellScores]) -> dict[str, list[CellScores]]:
    """Returns cells under the names of their sides, in the order of the cells.

    A side is a model; settings are named where a task has several of them.

    Args:
        cells: of any number of tasks.
    """
    of_tasks = grouped(cells, lambda cell: cell.task).values()
    several = [d for d in SETTINGS if any(len({c.dimensions[d] for c in of_task}) > 1 for of_task in of_tasks)]
    return grouped(cells, lambda c: ", ".join([c.model, *(side_name(d, c.dimensions[d]) for d in several)]))


def parts(cells: Sequence[CellScores]) -> list[Part]:
    """Returns the parts of a report, English prompts of a task before native ones.

    Args:
        cells: those without a scored document are left out.
    """
    scored = [cell for cell in cells if cell.n]
    side_of = {id(cell): side for side, of_side in by_side(scored).items() for cell in of_side}
    kinds = {cell.prompt_language for cell in scored}
    found = []
    for of_task in grouped(scored, lambda c: (c.task, c.main)).values():
        for kind, of_kind in sorted(grouped(of_task, lambda c: c.prompt_language).items()):
            sides = grouped(of_kind, lambda c: side_of[id(c)])
            found.append(Part(of_kind[0].task, kind, of_kind[0].metric, sides, len(kinds) > 1))
    return found
