"""How fast a model answers on this machine, and how long a plan takes at that rate."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from afrieval.errors import UserError
from afrieval.estimates.size import Size
from afrieval.models.work import Amount
from afrieval.results.files import RUN, read_run
from afrieval.results.identity import differences
from afrieval.results.work import VisitWork, works

LEAST = 1.0  # seconds that are long enough to measure a rate
HOUR = 3600


@dataclass(frozen=True)
class Rate:
    """How fast requests of a kind are answered.

    Attributes:
        per_second: computed tokens, or requests where tokens are not counted.
        tokens: whether it is tokens.
        share: tokens of answers for each that they might have had.
        source: where it was measured.
    """

    per_second: float
    tokens: bool
    share: float
    source: str


Rates = Mapping[str, Rate]  # by kind of request


def rate_of(amount: Mapping[str, Any], source: str) -> Rate | None:
    """Returns the rate at which some requests were answered; None if it took too little time to know.

    Args:
        amount: what they took, as run.yaml has it.
        source: where it was measured.
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
        seconds += _seconds(amount, rates[kind]) if amount.requests else 0.0
    return seconds / HOUR


def _seconds(amount: Amount, rate: Rate) -> float:
    if not (rate.tokens and amount.computed):
        return amount.requests / rate.per_second if not rate.tokens else 0.0
    written = min(amount.written, amount.most * rate.share)
    return (amount.computed - amount.written + written) / rate.per_second


def earlier_rates(folders: Iterable[Path], model: Mapping[str, Any], device: str | None, engine: str | None) -> Rates:
    """Returns the rates of the latest visits of a model on a device, in one process.

    Args:
        folders: run folders; other folders, and damaged ones, are passed over.
        model: the model's part of a run's identity.
        device: name of the device.
        engine: that a run would use.
    """
    found: dict[str, tuple[str, Rate]] = {}
    for folder in folders:
        for visit in _visits(folder, model):
            same = (visit.device_name, visit.engine, visit.processes) == (device, engine, 1)
            rate = rate_of(dict(visit.taken), f"the visit of {visit.date[:10]} to {folder}") if same else None
            if rate and visit.date >= found.get(visit.kind, ("",))[0]:
                found[visit.kind] = visit.date, rate
    return {kind: rate for kind, (_, rate) in found.items()}


def _visits(folder: Path, model: Mapping[str, Any]) -> list[VisitWork]:
    try:
        record = read_run(folder) if (folder / RUN).is_file() else None
        if not record or differences(record["identity"]["model"], model):
            return []
        return list(works(record, folder))
    except UserError:  # of a run that is not asked for
        return []
