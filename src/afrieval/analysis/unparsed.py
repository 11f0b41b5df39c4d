"""Answers that were not parsed: how many there are, and what scores would be if all of them were right.

They count as wrong, but nothing is known of them. A comparison is concluded only if it comes out the same whether all
unparsed answers of one side are right or wrong: these are bounds without an assumption (Manski 1989, "Anatomy of the
Selection Problem").
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from afrieval.analysis.scores import PromptMean
from afrieval.results.cell_scores import CellScores
from afrieval.results.document_columns import Values
from afrieval.scoring.base import mean
from afrieval.scoring.labels import CUT, GUESSED, NOT_PARSED, REFUSED

MOST = 0.02  # of all answers: up to here, nothing is said of them, and they decide nothing
OF_READING = {NOT_PARSED, REFUSED, CUT, GUESSED}  # what went wrong, which is no score that answers could have


def share(cells: Iterable[CellScores], name: str = NOT_PARSED) -> float:
    """Returns the share of unparsed answers in all cells together, or of another metric; 0.0 if it is not known."""
    columns = [cell.measures[name][:, 0] for cell in cells if name in cell.measures]
    answers = np.concatenate(columns) if columns else np.zeros(0)
    return float(np.nanmean(answers)) if not np.isnan(answers).all() else 0.0


def are_many(cells: Sequence[CellScores]) -> bool:
    """Returns whether so many answers are unparsed that they may decide what follows from the scores of cells."""
    return not OF_READING & {cell.main for cell in cells} and share(cells) > MOST


def all_right(average: PromptMean) -> PromptMean:
    """Returns an average in which unparsed answers score as high as an answer can.

    Scores that are no means become the means of what documents add to them, as in `document_means`.
    """
    cells = []
    for cell in average.cells:
        metric, sign = cell.metric, 1 if cell.metric.higher_is_better else -1
        bound = sign * metric.bounds[metric.higher_is_better]  # the best score; the lowest one where less is better
        highest = max((sign * cell.values).max(), bound if math.isfinite(bound) else -math.inf)
        unparsed = cell.measures.get(NOT_PARSED, np.zeros((cell.n, 1)))[:, 0] > 0
        cells.append(_of_values(cell, np.where(unparsed, sign * highest, cell.values)))
    return replace(average, cells=cells)


def document_means(average: PromptMean) -> PromptMean:
    """Returns an average whose scores are means of what documents add to them: what `all_right` is compared with."""
    return replace(average, cells=[_of_values(cell, cell.values) for cell in average.cells])


def _of_values(cell: CellScores, values: Values) -> CellScores:
    metric = replace(cell.metric, score=mean, per_document_values=None, normalise_over_cell=None, n_sure=len)
    return replace(
        cell,
        metrics={**cell.metrics, cell.main: metric},
        measures={**cell.measures, cell.main: values[:, None]},
    )
