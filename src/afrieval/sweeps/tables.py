"""Tables of a sweep: how far its jobs are, and what they would do."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from afrieval.report.table import Column, Table
from afrieval.run.progress import clock
from afrieval.sweeps.state import Progress, cells_of, reasons_of

if TYPE_CHECKING:  # --status needs no planning, whose imports take seconds
    from afrieval.sweeps.dry import Asked


def status_table(title: str, jobs: Iterable[Progress]) -> Table:
    """Returns the status of each job.

    Args:
        title: of the table.
        jobs: in order.
    """
    jobs = list(jobs)
    queue = [Column("SLURM")] if any(each.queue for each in jobs) else []
    columns = [
        Column("job"),
        Column("status"),
        *queue,
        Column("done", "count"),
        Column("cells", "count"),
        Column("left"),
        Column("since (UTC)", key="since"),
        Column("why"),
    ]
    rows = []
    for job, state, listed, place in jobs:
        finished, cells = cells_of(state)
        left = state["seconds_left"] if state["status"] == "running" else None
        why = "; ".join([*reasons_of(state), *([] if listed else ["not in the sweep file any more"])])
        known = (finished, cells) if cells else (None, None)
        words = [job.name, state["status"], *([place] if queue else [])]
        rows.append([*words, *known, None if left is None else clock(left), state["since"][:16].replace("T", " "), why])
    return Table("sweep", title, columns, rows)


def asked_table(title: str, parts: "Iterable[Asked]") -> Table:
    """Returns what each job would run.

    Args:
        title: of the table.
        parts: in order.
    """
    columns = [
        Column("job"),
        Column("run"),
        Column("cells", "count"),
        Column("stored", "count"),
        Column("requests", "amount"),
    ]
    rows = [[part.job, part.run, part.cells, part.stored, part.requests] for part in parts]
    return Table("sweep-jobs", title, columns, rows)
