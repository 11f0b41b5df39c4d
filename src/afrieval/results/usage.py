"""What answers took: tokens and cost of each for usage.csv, and the requests and seconds of each session of a run."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, NamedTuple, NotRequired

from annotated_types import Ge

from afrieval._util.grouping import grouped
from afrieval._util.schema import OpenMap, validated
from afrieval.results.cell_scores import CellScores
from afrieval.results.document_columns import Row
from afrieval.results.run_files import RUN
from afrieval.results.schema import Index, RunRecord
from afrieval.scoring.labels import TOO_LONG
from afrieval.scoring.responses import LOCAL, is_cut

TOKENS = ("prompt_tokens", "cached_tokens", "completion_tokens", "reasoning_tokens")
LETTERS = ("letters", "missing_letters", "no_letter")  # of the most likely first tokens
COUNTS = ("answers", "requests", *TOKENS, "unknown", "cut_off", "refused", TOO_LONG, *LETTERS)
COLUMNS = ("task", "language", *COUNTS, "cost")
MOST = 10**15  # of anything that an answer may take; servers of old runs were believed


def usage_of(details: Mapping[str, Any]) -> dict[str, float]:
    """Returns what one answer took, by names of `COUNTS`, and its cost if prices were known; empty if nothing says.

    Of models that are no servers, it is only known whether an answer ended at its limit.
    """
    if details.keys() <= LOCAL:
        return {"cut_off": 1} if is_cut(details) else {}

    def is_amount(value: Any) -> bool:
        return type(value) in (int, float) and 0 <= value < MOST

    amounts = {name: details[name] for name in ("requests", *TOKENS, *LETTERS, "cost") if is_amount(details.get(name))}
    counted = {
        "no_letter": details.get("missing_letters") == details.get("letters", -1),
        "unknown": TOKENS[0] not in amounts,
        "cut_off": is_cut(details),
        "refused": bool(details.get("refused")),
        TOO_LONG: details.get("finish_reason") == TOO_LONG,
    }
    return {"answers": 1, **amounts, **{name: int(counts) for name, counts in counted.items()}}


def usage_rows(cells: Iterable[CellScores]) -> list[Row]:
    """Returns rows of usage.csv: sums per task and language; empty if no answer has details.

    A cost is empty where prices were not known for all answers.
    """
    counted = [cell for cell in cells if cell.usage.get("answers")]
    rows = []
    for (task, language), members in grouped(counted, lambda cell: (cell.task, cell.language)).items():
        counts = {name: int(sum(cell.usage.get(name, 0) for cell in members)) for name in COUNTS}
        priced = all("cost" in cell.usage for cell in members)
        cost = round(sum(cell.usage["cost"] for cell in members), 10) if priced else None
        rows.append({"task": task, "language": language, **counts, "cost": cost})
    return rows


class RequestAmount(OpenMap):
    """What requests of a kind took, as `models.work.Amount` has it; what is 0 is left out."""

    requests: Index
    seconds: Annotated[float, Ge(0)]
    plain: NotRequired[Index]
    computed: NotRequired[Index]
    written: NotRequired[Index]
    most: NotRequired[Index]


class _Visit(OpenMap):
    """The parts of a session that say on which machine it ran, and its requests, tokens and seconds."""

    date: NotRequired[str]
    dtype: NotRequired[str]
    engine: NotRequired[str | None]
    device_name: NotRequired[str | None]
    processes: NotRequired[Index]
    work: NotRequired[dict[str, RequestAmount]]


class VisitWork(NamedTuple):
    """What the answers of one kind took in a session.

    Attributes:
        kind: `likelihoods` or `answers`.
    """

    date: str
    dtype: str
    engine: str | None
    device_name: str | None
    processes: int
    kind: str
    amount: RequestAmount


def works(record: RunRecord, folder: Path) -> Iterator[VisitWork]:
    """Yields what each session took, the first session first."""
    for stored in record.get("visits", []):
        where = {name: of for name, of in stored.items() if name in _Visit.__annotations__}
        visit = validated(_Visit, where, str(folder / RUN), "remove `work` from its visits")
        circumstances = visit.get("date", ""), visit.get("dtype", ""), visit.get("engine"), visit.get("device_name")
        for kind, amount in visit.get("work", {}).items():
            yield VisitWork(*circumstances, visit.get("processes", 1), kind, amount)
