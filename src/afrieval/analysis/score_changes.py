"""How scores moved when stored answers were scored again."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from afrieval._util.grouping import grouped
from afrieval.results.cell_key import PromptId, prompt_order
from afrieval.results.cell_scores import CellScores
from afrieval.results.changes import alike, moved_documents
from afrieval.results.document_scores import Values
from afrieval.scoring.base import Metric

Pair = tuple[CellScores, CellScores]  # a cell as it was, and as it is now


@dataclass(frozen=True)
class Move:
    """A score of a language in a prompt language, as the mean over prompts.

    Attributes:
        before: the score that is stored; None for a metric that was not measured.
        after: the new score; None for a metric that is not measured any more.
        n: documents under all prompts.
        up: how many of them have a higher score.
        down: how many of them have a lower score.
    """

    task: str
    language: str
    prompt_language: str
    prompts: list[PromptId]
    metric: Metric
    before: float | None
    after: float | None
    n: int
    up: int
    down: int


def moves(pairs: Iterable[Pair]) -> list[Move]:
    """Returns the scores that moved, by task, language, prompt language and metric.

    Metrics that were not measured before, or are not measured any more, are among them.
    """
    groups = grouped(pairs, lambda pair: (pair[1].task, pair[1].language, pair[1].prompt_language, pair[1].prompt_set))
    all_moves = []
    for members in groups.values():
        in_order = sorted(members, key=lambda pair: prompt_order(pair[1].prompt))
        before, after = in_order[0]
        all_moves += [_move(name, in_order) for name in dict.fromkeys([*after.metrics, *before.metrics])]
    return [move for move in all_moves if move.up or move.down or not alike(move.before, move.after)]


def _move(name: str, pairs: list[Pair]) -> Move:
    befores, nows = ([pair[side] for pair in pairs] for side in (0, 1))
    steps = np.concatenate([_steps(name, *pair) for pair in pairs])
    first = nows[0]
    return Move(
        first.task,
        first.language,
        first.prompt_language,
        [cell.prompt for cell in nows],
        first.metrics.get(name) or befores[0].metrics[name],
        _mean(name, befores),
        _mean(name, nows),
        sum(cell.n for cell in nows),
        int((steps > 0).sum()),
        int((steps < 0).sum()),
    )


def _mean(name: str, cells: list[CellScores]) -> float | None:
    """Returns the mean score over prompts; None where a prompt has none."""
    scores = [cell.with_metric(name).score for cell in cells if name in cell.metrics]
    return float(np.mean(scores)) if len(scores) == len(cells) else None


def _steps(name: str, before: CellScores, after: CellScores) -> Values:
    """Returns the change of the score of each document that moved, shape (k,)."""
    if name not in before.metrics or name not in after.metrics or name in after.derived:
        return np.zeros(0)
    moved = np.flatnonzero(moved_documents(before, after)[name])
    metric, ones = after.metrics[name], np.ones((1, 1))
    sides = (after.measures[name], before.measures[name])
    new, old = (np.array([metric.score(values[[row]], ones)[0] for row in moved]) for values in sides)
    steps: Values = new - old
    return steps
