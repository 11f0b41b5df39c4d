"""Scores that can be compared, under the names of their sides: models, with their settings where these differ."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from afrieval._util.grouping import grouped
from afrieval.analysis.standings import Board, in_languages, over_languages
from afrieval.analysis.verdicts import OWN
from afrieval.report.contrast_tables import side_name
from afrieval.report.score_tables import WRITTEN
from afrieval.report.values import titled
from afrieval.results.cell_scores import CellScores
from afrieval.results.identity import words
from afrieval.scoring.base import Metric

SETTINGS = ("shots", "answer_form", "prompt_set")


@dataclass(frozen=True)
class ComparableScores:
    """Scores that can be compared: of one task, under one metric, with prompts in one language.

    Attributes:
        kind: language of the prompts: `eng` or `native`.
        named: whether its title says the language of the prompts.
    """

    task: str
    kind: str
    metric: Metric
    sides: dict[str, list[CellScores]]
    named: bool

    @property
    def title(self) -> str:
        """What it is called."""
        return self.titled(self.named)

    def titled(self, named: bool) -> str:
        """Returns what it is called, with or without the language of its prompts."""
        cells = [cell for of_side in self.sides.values() for cell in of_side]
        rows = OWN if any(cell.own_rows for cell in cells) else words(cell.selection for cell in cells)
        written = f"{WRITTEN[self.kind]} prompts" if named else ""
        return ", ".join(filter(None, (titled(self.task, self.metric), written, rows)))

    @cached_property
    def boards(self) -> dict[str, Board[str]]:
        """The board of each language."""
        return in_languages(self.sides)

    @cached_property
    def mean_board(self) -> Board[str]:
        """The board of means over African languages."""
        return over_languages(self.sides)


def comparable_scores(cells: Sequence[CellScores]) -> list[ComparableScores]:
    """Returns the scores of each task and language of prompts, English ones of a task before native ones.

    Cells without a scored document are left out.
    """
    scored = [cell for cell in cells if cell.n]
    of_tasks = grouped(scored, lambda cell: cell.task).values()
    several = [d for d in SETTINGS if any(len({c.dimensions[d] for c in of_task}) > 1 for of_task in of_tasks)]
    kinds = {cell.prompt_language for cell in scored}

    def side(cell: CellScores) -> str:
        return ", ".join([cell.model, *(side_name(d, cell.dimensions[d]) for d in several)])

    comparable = []
    for of_task in grouped(scored, lambda c: (c.task, c.main)).values():
        for kind, of_kind in sorted(grouped(of_task, lambda c: c.prompt_language).items()):
            first, sides = of_kind[0], grouped(of_kind, side)
            comparable.append(ComparableScores(first.task, kind, first.metric, sides, len(kinds) > 1))
    return comparable
