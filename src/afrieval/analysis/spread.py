"""What the choice of the prompt does to a score: best, mean, worst and spread over prompts."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from afrieval.results.units import Unit


@dataclass(frozen=True)
class Spread:
    """A language's scores over its prompts.

    Attributes:
        dimensions: what the cells are, but for the prompt.
        best: number of the prompt with the highest score, chosen on the evaluated documents themselves.
        spread: highest minus lowest.
    """

    task: str
    dimensions: dict[str, Any]
    prompts: list[Any]
    best: Any
    highest: float
    mean: float
    worst: Any
    lowest: float

    @property
    def spread(self) -> float:
        """Highest minus lowest."""
        return self.highest - self.lowest


def spreads(units: list[Unit]) -> list[Spread]:
    """Returns the spread of each language that has two prompts or more, in the order of the units."""
    groups: dict[tuple[Any, ...], list[Unit]] = {}
    for unit in units:
        rest = {d: v for d, v in unit.dimensions.items() if d != "prompt"}
        groups.setdefault((unit.task, *rest.items()), []).append(unit)
    return [_spread(task, dict(rest), of) for (task, *rest), of in groups.items() if len(of) > 1]


def _spread(task: str, dimensions: dict[str, Any], units: list[Unit]) -> Spread:
    units = sorted(units, key=lambda u: u.dimensions["prompt"])  # of equal scores the first counts
    lowest, highest = min(units, key=lambda u: u.score), max(units, key=lambda u: u.score)
    return Spread(
        task=task,
        dimensions=dimensions,
        prompts=sorted(u.dimensions["prompt"] for u in units),
        best=highest.dimensions["prompt"],
        highest=highest.score,
        mean=float(np.mean([u.score for u in units])),
        worst=lowest.dimensions["prompt"],
        lowest=lowest.score,
    )
