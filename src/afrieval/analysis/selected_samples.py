"""Which documents of a run are shown as samples: some of each kind, spread over the test set."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np

from afrieval._util.grouping import grouped
from afrieval.analysis.scores import alike_but_for
from afrieval.results.cell_key import prompt_order
from afrieval.results.cell_scores import CellScores
from afrieval.results.document_columns import Values
from afrieval.scoring.labels import NOT_PARSED, REFUSED

LOST, GAINED, WRONG, RIGHT, MEASURED = "first only", "second only", "wrong", "right", "measured"
KINDS = (LOST, GAINED, NOT_PARSED, WRONG, RIGHT, MEASURED)  # taken in turn
MOST = 5  # of a task, language and model
BLOCK = 500  # documents whose own scores are computed at a time
HALF = 0.5  # of the highest score, from which on an answer that is partly right counts as right


@dataclass(frozen=True)
class ShownDocuments:
    """The documents that are shown of a task, language, model, number of shots and form of answer.

    Attributes:
        cells: English and native prompts of one number, if both ran; else the first two prompts, or the only one.
        counts: kind to how many documents are of it.
        chosen: rows of the documents to show, by kind.
    """

    cells: Sequence[CellScores]
    counts: dict[str, int]
    chosen: dict[str, list[int]]

    @property
    def n(self) -> int:
        """How many documents are shown."""
        return sum(map(len, self.chosen.values()))


def selections(cells: Iterable[CellScores], most: int) -> list[ShownDocuments]:
    """Returns what is shown of each task, language and model."""
    scored = (cell for cell in cells if cell.n)
    return [_selection(of, most) for of in alike_but_for(scored, "prompt", "prompt_language", "prompt_set")]


def _selection(cells: list[CellScores], most: int) -> ShownDocuments:
    """Returns what is shown of a model: of English and native prompts of the lowest number that both have, if any."""
    order = sorted(cells, key=lambda c: (prompt_order(c.prompt), c.prompt_language))
    both = [of_prompt for of_prompt in grouped(order, lambda c: c.prompt).values() if len(of_prompt) > 1]
    cells = (both[0] if both else order)[:2]
    rows = reduce(np.intersect1d, [cell.ids for cell in cells])
    common = [cell.take(np.searchsorted(cell.ids, rows)) for cell in cells]
    kinds = _kinds(common)
    counts = {kind: n for kind in KINDS if (n := int((kinds == kind).sum()))}
    chosen = {}
    for kind, n in _shares(counts, most).items():
        if n:  # evenly spread over the test set: neighbours are often alike
            of_kind = rows[kinds == kind]
            chosen[kind] = of_kind[(2 * np.arange(n) + 1) * len(of_kind) // (2 * n)].tolist()
    return ShownDocuments(cells, counts, chosen)


def _kinds(cells: list[CellScores]) -> np.ndarray[tuple[int], np.dtype[np.str_]]:
    """Returns the kind of each document."""
    if not can_be_right(cells[0]):
        return np.full(cells[0].n, MEASURED)
    right = np.array([document_scores(cell) >= HALF for cell in cells])
    none = [cell.measures[n][:, 0] > 0 for cell in cells for n in (NOT_PARSED, REFUSED) if n in cell.measures]
    unparsed = np.any([np.zeros(cells[0].n, dtype=bool), *none], axis=0)
    differ = [right[0] & ~right[-1], ~right[0] & right[-1], ~right.any(axis=0) & unparsed]
    return np.select([*differ, ~right.any(axis=0)], [LOST, GAINED, NOT_PARSED, WRONG], RIGHT)


def can_be_right(cell: CellScores) -> bool:
    """Returns whether a score says if answers are right; it does not of texts whose likelihood is measured."""
    low, high = cell.metric.bounds
    has_answers = cell.answer_form == "generate" or bool((cell.n_choices > 0).any())
    return has_answers and cell.metric.ranked and cell.metric.higher_is_better and bool(np.isfinite([low, high]).all())


def document_scores(cell: CellScores) -> Values:
    """Returns the score of each document by itself, from 0 to 1, shape (n,)."""
    metric, measures = cell.metric, cell.measures[cell.main]
    if metric.is_mean:
        return measures[:, 0] / metric.bounds[1]
    blocks = [measures[at : at + BLOCK] for at in range(0, len(measures), BLOCK)]
    return np.concatenate([metric.score(block, np.eye(len(block))) for block in blocks]) / metric.bounds[1]


def _shares(counts: dict[str, int], most: int) -> dict[str, int]:
    """Returns how many of each kind are shown: one of each in turn, until there are enough."""
    shares = dict.fromkeys(counts, 0)
    while sum(shares.values()) < min(most, sum(counts.values())):
        for kind, n in counts.items():
            if shares[kind] < n and sum(shares.values()) < most:
                shares[kind] += 1
    return shares
