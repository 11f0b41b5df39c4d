"""Measures how fast a model answers, with some requests of a plan."""

import time
from collections.abc import Sequence
from typing import Any

from afrieval.config.settings import EvalConfig, ModelConfig
from afrieval.estimates.rates import Rate, rate_of
from afrieval.estimates.requests import built
from afrieval.models.answer_file import AnswerFile
from afrieval.models.load import load_model
from afrieval.models.response_cache import CachedLM
from afrieval.models.work import KINDS
from afrieval.tasks.cell import Cell, Job

SECONDS = 10.0  # for each kind of request
QUICK = 2.0  # seconds; what takes less is asked in larger portions
STEP = (5**0.5 - 1) / 2  # multiples of it are spread over a plan


def calibrate(model: ModelConfig, evaluation: EvalConfig, cells: Sequence[Cell]) -> dict[str, Rate]:
    """Returns the rate of each kind of request in a plan; tasks of the harness are not asked.

    Args:
        model: is loaded.
        evaluation: its settings.
        cells: the plan.

    Raises:
        UserError: if the model cannot be loaded.
    """
    cached = CachedLM(load_model(model, evaluation), AnswerFile(None))
    rates = {}
    for kind in dict.fromkeys(KINDS.values()):
        of_kind = [cell for cell in cells if _kind(cell) == kind and "harness_tasks" not in cell.identity]
        if of_kind and (rate := rate_of(_measured(of_kind, cached, kind), "ten seconds of requests of this plan")):
            rates[kind] = rate
    return rates


def _kind(cell: Cell) -> str:
    return KINDS[min(cell.asks)] if len(cell.asks) == 1 else ""


def _measured(cells: Sequence[Cell], cached: CachedLM, kind: str) -> dict[str, Any]:
    """Returns what requests take that are spread over cells; the first ones, which warm the model up, do not count."""
    amount, jobs = cached.work.kinds[kind], dict[int, tuple[Job, int]]()
    began, portion, turn, warm = time.monotonic(), 2, 0, False
    while time.monotonic() < began + SECONDS and (turn < len(cells) or any(map(_is_left, jobs.values()))):
        at = int(turn * STEP % 1 * len(cells))
        job, first = jobs[at] if at in jobs else (cells[at].build(cached), 0)
        begun, turn = time.monotonic(), turn + 1
        _ask(cached, job, range(first, min(first + portion, _number(job))))
        jobs[at] = job, first + portion
        portion *= 2 if time.monotonic() < begun + QUICK else 1
        if not warm and amount.requests:
            warm, began = True, time.monotonic()
            before = amount.stored()
            amount.clear()
    return amount.stored() if amount.requests else before


def _number(job: Job) -> int:
    return len(job.task.eval_docs) if job.task else 0


def _is_left(asked: tuple[Job, int]) -> bool:
    return asked[1] < _number(asked[0])


def _ask(cached: CachedLM, job: Job, documents: range) -> None:
    if not documents:
        return
    requests = built(job, documents)
    for method in dict.fromkeys(request.request_type for request in requests):
        getattr(job.model, method)([request for request in requests if request.request_type == method])
