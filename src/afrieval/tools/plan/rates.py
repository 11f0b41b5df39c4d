"""How fast a model answers on this machine, and how long a plan takes at that rate."""

import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import groupby, islice
from pathlib import Path
from typing import Any

from afrieval._util.errors import UserError
from afrieval._util.grouping import grouped
from afrieval.config.settings import EvalConfig, ModelConfig
from afrieval.models.answer_file import AnswerFile
from afrieval.models.registry import load_model
from afrieval.models.response_cache import CachedLM
from afrieval.models.work import KINDS
from afrieval.results.identity import differences
from afrieval.results.run_files import RUN, read_run
from afrieval.results.usage import VisitWork, works
from afrieval.tasks.cells.cell import Cell
from afrieval.tools.plan.counting import Size

LEAST = 1.0  # seconds that are long enough to measure a rate
HOUR = 3600


@dataclass(frozen=True)
class Rate:
    """How fast requests of a kind are answered.

    Attributes:
        per_second: computed tokens, or requests where tokens are not counted.
        share: tokens of answers for each that they might have had.
    """

    per_second: float
    tokens: bool
    share: float
    source: str


Rates = Mapping[str, Rate]  # by kind of request


def rate_of(amount: Mapping[str, Any], source: str) -> Rate | None:
    """Returns the rate at which some requests were answered; None if it took too little time to know.

    `amount` is what they took, as run.yaml has it.
    """
    if amount["seconds"] < LEAST:
        return None
    done = amount.get("computed") or amount["requests"]
    share = amount.get("written", 0) / amount["most"] if amount.get("most") else 1.0
    return Rate(done / amount["seconds"], bool(amount.get("computed")), share, source)


def hours(size: Size, rates: Rates) -> float | None:
    """Returns how long some requests take; None if a rate is unknown."""
    seconds = 0.0
    for kind, amount in (("likelihoods", size.likelihoods), ("answers", size.answers)):
        if amount.requests and kind not in rates:
            return None
        if amount.requests and not rates[kind].tokens:
            seconds += amount.requests / rates[kind].per_second
        elif amount.requests and amount.computed:
            written = min(amount.written, amount.most * rates[kind].share)
            seconds += (amount.computed - amount.written + written) / rates[kind].per_second
    return seconds / HOUR


def earlier_rates(folders: Iterable[Path], model: Mapping[str, Any], device: str | None, engine: str | None) -> Rates:
    """Returns the rates of the latest visits of a model on a device, in one process.

    Folders that are damaged, or no run folders, are passed over.
    """
    latest: dict[str, tuple[str, Rate]] = {}
    for folder in folders:
        visits = list[VisitWork]()
        with suppress(UserError):  # of a run that is not asked for
            record = read_run(folder) if (folder / RUN).is_file() else None
            if record and not differences(record["identity"]["model"], model):
                visits = list(works(record, folder))
        for visit in visits:
            same = (visit.device_name, visit.engine, visit.processes) == (device, engine, 1)
            rate = rate_of(dict(visit.amount), f"the visit of {visit.date[:10]} to {folder}") if same else None
            if rate and visit.date >= latest.get(visit.kind, ("",))[0]:
                latest[visit.kind] = visit.date, rate
    return {kind: rate for kind, (_, rate) in latest.items()}


SECONDS = 10.0  # for each kind of request
QUICK = 2.0  # seconds; what takes less is asked in larger portions
STEP = (5**0.5 - 1) / 2  # multiples of it are spread over a plan


def calibrate(model: ModelConfig, evaluation: EvalConfig, cells: Sequence[Cell]) -> dict[str, Rate]:
    """Returns the rate of each kind of request in a plan; tasks of the harness are not asked.

    Raises:
        UserError: if the model cannot be loaded.
    """
    cached = CachedLM(load_model(model, evaluation), AnswerFile(None))
    rates = {}
    for kind in dict.fromkeys(KINDS.values()):
        asks = {name for name, of in KINDS.items() if of == kind}
        of_kind = [c for c in cells if len(c.asks) == 1 and c.asks <= asks and "harness_tasks" not in c.identity]
        if of_kind and (rate := rate_of(_measured(of_kind, cached, kind), "ten seconds of requests of this plan")):
            rates[kind] = rate
    return rates


def _measured(cells: Sequence[Cell], cached: CachedLM, kind: str) -> dict[str, Any]:
    """Returns what requests take that are spread over cells; the first ones, which warm the model up, do not count."""
    amount = cached.work.kinds[kind]
    documents = [groupby(cell.requests(cached), lambda request: request.doc_id) for cell in cells]
    begun_cells, done_cells = set[int](), set[int]()
    began, portion, turn, warm = time.monotonic(), 2, 0, False
    while time.monotonic() < began + SECONDS and (turn < len(cells) or begun_cells - done_cells):
        index = int(turn * STEP % 1 * len(cells))
        begun, turn = time.monotonic(), turn + 1
        requests = [request for _, of_document in islice(documents[index], portion) for request in of_document]
        for method, of_method in grouped(requests, lambda request: request.request_type).items():
            getattr(cached, method)(of_method)
        begun_cells.add(index)
        done_cells |= set() if requests else {index}
        portion *= 2 if time.monotonic() < begun + QUICK else 1
        if not warm and amount.requests:
            warm, began = True, time.monotonic()
            before = amount.stored()
            amount.clear()
    return amount.stored() if amount.requests else before
