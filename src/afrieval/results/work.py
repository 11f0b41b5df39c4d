"""What the visits to a run folder took: requests, tokens and seconds, as run.yaml has them."""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, NamedTuple, NotRequired

from annotated_types import Ge
from typing_extensions import TypedDict

from afrieval.files.schema import OPEN, validated
from afrieval.results.files import RUN
from afrieval.results.schema import Index, RunRecord


class Taken(TypedDict):
    """What requests of a kind took, as `models.work.Amount` has it; what is 0 is left out."""

    __pydantic_config__ = OPEN  # type: ignore[misc]
    requests: Index
    seconds: Annotated[float, Ge(0)]
    plain: NotRequired[Index]
    computed: NotRequired[Index]
    written: NotRequired[Index]
    most: NotRequired[Index]


class _Visit(TypedDict):
    """The parts of a visit that say what it took, and where."""

    __pydantic_config__ = OPEN  # type: ignore[misc]
    date: NotRequired[str]
    dtype: NotRequired[str]
    engine: NotRequired[str | None]
    device_name: NotRequired[str | None]
    processes: NotRequired[Index]
    work: NotRequired[dict[str, Taken]]


class VisitWork(NamedTuple):
    """What the answers of one kind took in a visit.

    Attributes:
        kind: `likelihoods` or `answers`.
    """

    date: str
    dtype: str
    engine: str | None
    device_name: str | None
    processes: int
    kind: str
    taken: Taken


def works(record: RunRecord, folder: Path) -> Iterator[VisitWork]:
    """Yields what each visit took, the first visit first; older versions did not store it.

    Args:
        record: the content of run.yaml.
        folder: the run folder, for messages.

    Raises:
        UserError: if run.yaml is damaged.
    """
    for given in record.get("visits", []):
        where = {name: given[name] for name in _Visit.__annotations__ if name in given}
        visit = validated(_Visit, where, str(folder / RUN), "remove `work` from its visits")
        of = visit.get("date", ""), visit.get("dtype", ""), visit.get("engine"), visit.get("device_name")
        for kind, taken in visit.get("work", {}).items():
            yield VisitWork(*of, visit.get("processes", 1), kind, taken)
