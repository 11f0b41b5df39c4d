"""Counts what a run would compute, with the model's own tokenizer."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from afrieval.estimates.hollow import Hollow
from afrieval.estimates.requests import built, spread
from afrieval.estimates.size import Size
from afrieval.grouping import grouped
from afrieval.models.answer_file import AnswerFile
from afrieval.models.response_cache import CachedLM
from afrieval.models.work import Amount
from afrieval.tasks.cell import Cell, Job

MOST = 150_000  # requests that are built, which takes about a minute
FEWEST = 20  # documents of a cell


def sampled(cells: Sequence[Cell]) -> int:
    """Returns 1 if all documents of some cells are counted, else n if each n-th is."""
    return -(-sum(cell.n_requests for cell in cells) // MOST)


def count(cells: Sequence[Cell], lm: Hollow, counted: Callable[[Cell], None] = lambda cell: None) -> list[Size]:
    """Returns the size of each cell, with the tokens that a run computes.

    Equal requests are asked once in a run, and count once. In large plans, some documents of each cell stand for all.

    Args:
        cells: those to run, in order.
        lm: the model without weights.
        counted: called with each cell that was counted.
    """
    cached, step = CachedLM(lm, AnswerFile(None)), sampled(cells)
    sizes = []
    for cell in cells:
        sizes.append(_count(cell, lm, cached, max(FEWEST, -(-cell.n // max(1, step)))))
        counted(cell)
    return sizes


def _count(cell: Cell, lm: Hollow, cached: CachedLM, most: int) -> Size:
    job = cell.build(cached)
    documents = spread(job, most)
    lm.begin(samples=documents is not None)
    for method, asked in grouped(built(job, documents), lambda request: str(request.request_type)).items():
        getattr(job.model, method)(asked)
    whole = len(job.task.eval_docs) / len(documents) if documents else 1.0
    likelihoods, answers = (_of_all(amount, whole, lm.shared) for amount in lm.work.kinds.values())
    fewer, shortened = _fitted(cell, job)
    place = cell.coordinates.task, cell.coordinates.language, 1, cell.n
    lost = [round(n * whole) for n in (lm.truncated, fewer, shortened)]
    return Size(*place, likelihoods, answers, *lost)


def _of_all(amount: Amount, whole: float, shared: int) -> Amount:
    """Returns what all documents of a cell take, of which some were counted.

    Args:
        amount: what those take.
        whole: documents for each that was counted.
        shared: tokens that are computed once, however many documents there are.
    """
    once = min(shared, amount.computed)
    of_all = {name: round(getattr(amount, name) * whole) for name in ("requests", "plain", "written", "most")}
    return replace(amount, **of_all, computed=once + round((amount.computed - once) * whole), seconds=0.0)


def _fitted(cell: Cell, job: Job) -> tuple[int, int]:
    """Returns how many documents lose examples, and how many parts of their text."""
    fitted: dict[int, Any] = getattr(job.task, "shortened", {})
    fewer = sum(len(shown) - 1 < cell.coordinates.shots for shown in fitted.values())
    return fewer, len(fitted) - fewer
