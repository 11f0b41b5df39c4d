"""What the choice of the prompt does to a score: best, mean, worst and spread over prompts."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from afrieval.analysis.scores import averaged
from afrieval.grouping import grouped
from afrieval.results.prompts import prompt_order
from afrieval.results.scores import CellScores


@dataclass(frozen=True)
class Spread:
    """A language's scores over its prompts, on the documents that all of them have.

    Attributes:
        dimensions: what the cells are, but for the prompt.
        best: number of the prompt with the best score, chosen on the evaluated documents themselves.
        highest: its score, which is the lowest where less is better.
        cells: of each prompt, with the documents that all have; in the order of `prompts`.
    """

    task: str
    dimensions: dict[str, Any]
    prompts: list[Any]
    best: Any
    highest: float
    mean: float
    worst: Any
    lowest: float
    cells: Sequence[CellScores] = field(default=(), repr=False, compare=False)

    @property
    def spread(self) -> float:
        """Best less worst, without a sign."""
        return abs(self.highest - self.lowest)


def spreads(cells: list[CellScores]) -> list[Spread]:
    """Returns the spread of each language that has two prompts or more, in the order of the cells."""
    groups = grouped(cells, lambda c: (c.task, *c.but("prompt").items()))
    return [_spread(of) for of in groups.values() if len(of) > 1]


def _spread(cells: list[CellScores]) -> Spread:
    average = averaged(sorted(cells, key=lambda c: prompt_order(c.prompt)))  # of equal scores the first counts
    sign = 1 if average.metric.higher_is_better else -1
    worst, best = (of(average.cells, key=lambda c: sign * c.score) for of in (min, max))
    return Spread(
        task=cells[0].task,
        dimensions=cells[0].but("prompt"),
        prompts=[c.prompt for c in average.cells],
        best=best.prompt,
        highest=best.score,
        mean=average.score,
        worst=worst.prompt,
        lowest=worst.score,
        cells=average.cells,
    )
