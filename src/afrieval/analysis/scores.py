"""Scores per language over prompts."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from afrieval.results.cells import CellScores
from afrieval.statistics.intervals import Interval, clustered_wilson


@dataclass(frozen=True)
class LanguageScore:
    """A language's score, averaged over prompts.

    Attributes:
        interval: Wilson's; for the mean of several prompts with documents as clusters.
        others: the same mean for the other ways to compare log-likelihoods.
    """

    task: str
    language: str
    prompt_language: str
    prompts: list[int]
    metric: str
    score: float
    interval: Interval
    others: dict[str, float]
    n: int
    n_defect: int
    chance: float


def by_language(cells: list[CellScores]) -> list[LanguageScore]:
    """Returns a score per task, language and prompt language, in the order of the cells.

    Args:
        cells: cells with at least one scored document are used.
    """
    groups: dict[tuple[str, str, str], list[CellScores]] = {}
    for cell in cells:
        if cell.n:
            groups.setdefault((cell.task, cell.language, cell.prompt_language), []).append(cell)
    return [_language_score(group) for group in groups.values()]


def _language_score(cells: list[CellScores]) -> LanguageScore:
    first = cells[0]
    values = document_means(cells)
    return LanguageScore(
        task=first.task,
        language=first.language,
        prompt_language=first.prompt_language,
        prompts=sorted(c.prompt for c in cells),
        metric=first.main,
        score=float(values.mean()),
        interval=clustered_wilson(values, len(cells)) if len(cells) > 1 else first.interval,
        others={
            m: float(document_means(cells, m).mean()) for m in first.metrics if m != first.main and first.metrics[m]
        },
        n=len(values),
        n_defect=len(first.defects.intersection(*(c.ids for c in cells))),
        chance=first.chance,
    )


def common_documents(cells: Iterable[CellScores], metric: str | None = None) -> list[int]:
    """Returns the documents that all cells have a score for, or a value of another metric, sorted."""
    return sorted(set.intersection(*(set(c.metrics[metric or c.main]) for c in cells)))


def document_means(
    cells: list[CellScores], metric: str | None = None, only: list[int] | None = None
) -> NDArray[np.float64]:
    """Returns each document's score averaged over cells.

    Args:
        cells: one or more.
        metric: which one; the cells' score if not given.
        only: the documents to use; those that all cells have if not given.
    """
    documents = common_documents(cells, metric) if only is None else only
    scores = np.array([[c.metrics[metric or c.main][i] for i in documents] for c in cells], dtype=np.float64)
    return np.asarray(scores.mean(axis=0))
