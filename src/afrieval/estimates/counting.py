"""Counts what a run would compute, with the model's own tokenizer."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from afrieval.estimates.hollow import Hollow
from afrieval.estimates.requests import built
from afrieval.estimates.size import Size
from afrieval.grouping import grouped
from afrieval.models.answer_file import AnswerFile
from afrieval.models.response_cache import CachedLM
from afrieval.models.work import Amount
from afrieval.tasks.cell import Cell, Job

MOST = 300_000  # requests that are counted, which takes about a minute
BLOCK = 12  # documents that are counted together: neighbours may share a text, such as the premises of XNLI
FEWEST = 2  # blocks of a cell
FEWEST_WRITTEN = 34  # where answers are generated: how much is padded depends on the number of prompts


def sampled(cells: Sequence[Cell]) -> int:
    """Returns 1 if all documents of some cells are counted, else n if one of n is."""
    return -(-sum(cell.n_requests for cell in cells) // MOST) or 1


def count(cells: Sequence[Cell], lm: Hollow, counted: Callable[[Cell], None] = lambda cell: None) -> list[Size]:
    """Returns the size of each cell, with the tokens that a run computes.

    Equal requests are asked once in a run, and count once. In large plans, some documents of each cell stand for all,
    in proportion to the length of their prompts.

    Args:
        cells: those to run, in order.
        lm: the model without weights.
        counted: called with each cell that was counted.
    """
    cached, step = CachedLM(lm, AnswerFile(None)), sampled(cells)
    sizes = []
    for cell in cells:
        sizes.append(_count(cell, lm, cached, step))
        counted(cell)
    return sizes


def _count(cell: Cell, lm: Hollow, cached: CachedLM, step: int) -> Size:
    job = cell.build(cached)
    requests = built(job)
    fewest = FEWEST_WRITTEN if "generate_until" in cell.asks else FEWEST
    some = _some(requests, step, fewest)
    lm.begin({request.args[0]: request.doc_id // BLOCK for request in some} if len(some) < len(requests) else {})
    for method, asked in grouped(some, lambda request: str(request.request_type)).items():
        getattr(job.model, method)(asked)
    number, length = len(requests) / (len(some) or 1), _length(requests) / (_length(some) or 1)
    likelihoods, answers = (_of_all(amount, number, length, lm.shared) for amount in lm.work.kinds.values())
    place = cell.coordinates.task, cell.coordinates.language, 1, cell.n
    return Size(*place, likelihoods, answers, round(lm.truncated * number), *_fitted(cell, job))


def _some(requests: list[Any], step: int, fewest: int) -> list[Any]:
    """Returns the requests of one of `step` blocks of documents, spread over all, of at least the fewest."""
    blocks = 1 + max((request.doc_id // BLOCK for request in requests), default=0)
    kept = max(fewest, -(-blocks // step))
    if step == 1 or kept >= blocks:
        return requests
    chosen = {i * blocks // kept for i in range(kept)}
    return [request for request in requests if request.doc_id // BLOCK in chosen]


def _length(requests: Sequence[Any]) -> int:
    """Returns the bytes of texts that are sent."""
    return sum(len(text.encode()) for request in requests for text in request.args if isinstance(text, str))


def _of_all(amount: Amount, number: float, length: float, shared: int) -> Amount:
    """Returns what all requests of a cell take, of which some were counted.

    Args:
        amount: what those take.
        number: requests for each that was counted.
        length: bytes for each that was counted.
        shared: tokens that are computed once, however many requests there are.
    """
    prompts = amount.computed - amount.written
    once = min(shared, prompts)
    of_all = {name: round(getattr(amount, name) * number) for name in ("requests", "written", "most")}
    computed = once + round((prompts - once) * length) + of_all["written"]
    return replace(amount, **of_all, plain=round(amount.plain * length), computed=computed, seconds=0.0)


def _fitted(cell: Cell, job: Job) -> tuple[int, int]:
    """Returns how many documents lose examples, and how many parts of their text."""
    fitted: dict[int, Any] = getattr(job.task, "shortened", {})
    fewer = sum(len(shown) - 1 < cell.coordinates.shots for shown in fitted.values())
    return fewer, len(fitted) - fewer
