"""How far a sweep is and what its jobs would do, as tables and on the screen."""

import time
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from afrieval._util.errors import UserError, reason
from afrieval._util.terminal import console, one_line
from afrieval.report.columns import Column
from afrieval.report.table import Table
from afrieval.run.progress import clock
from afrieval.tools.sweep.jobs import Job, read_job, stored_jobs
from afrieval.tools.sweep.slurm import with_queue
from afrieval.tools.sweep.state import JobProgress, cells_of, new_state, read_state, reasons_of


def progress(folder: Path, jobs: Sequence[Job]) -> list[JobProgress]:
    """Returns how far jobs are, and those that the sweep file does not have any more."""
    listed = {job.name: job for job in jobs}
    former = [name for name in stored_jobs(folder) if name not in listed]
    return with_queue(folder, [_progress(folder, name, listed.get(name)) for name in (*listed, *former)])


def _progress(folder: Path, name: str, listed: Job | None) -> JobProgress:
    """Returns how far a job is; one whose files cannot be read has failed, and hides no other."""
    try:
        job = listed or read_job(folder, name)
        return JobProgress(job, read_state(folder, job), listed is not None)
    except (UserError, OSError) as e:
        job = listed or Job(name, [])
        return JobProgress(job, {**new_state(job), "status": "failed", "reason": reason(e)}, listed is not None)


def status_table(title: str, jobs: Iterable[JobProgress]) -> Table:
    """Returns the status of each job."""
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
    for job, state, listed, queued in jobs:
        finished, cells = cells_of(state)
        left = state["seconds_left"] if state["status"] == "running" else None
        why = "; ".join([*reasons_of(state), *([] if listed else ["not in the sweep file any more"])])
        counts = (finished, cells) if cells else (None, None)
        words = [job.name, state["status"], *([queued] if queue else [])]
        rows.append(
            [*words, *counts, None if left is None else clock(left), state["since"][:16].replace("T", " "), why]
        )
    return Table("sweep", title, columns, rows)


class PlannedPart(NamedTuple):
    """A job's part of a run.

    Attributes:
        run: the run's folder, within the sweep's.
        stored: how many of them are stored already.
        requests: about how many requests the others have.
    """

    job: str
    run: str
    cells: int
    stored: int
    requests: int


def plan_table(title: str, parts: Iterable[PlannedPart]) -> Table:
    """Returns what each job would run."""
    columns = [Column("job"), Column("run"), Column("cells", "count"), Column("stored", "count")]
    columns += [Column("requests", "amount")]
    return Table("sweep-jobs", title, columns, [list(part) for part in parts])


EVERY = 2.0  # seconds between looks at all states
SHOWN = ("running", "done", "failed", "stopped", "waiting")


class Screen:
    """Shows the states of jobs while they run.

    Attributes:
        bar: is on the screen while its block is open.
    """

    def __init__(self, folder: Path, jobs: Sequence[Job]):
        self._folder, self._jobs, self._latest = folder, jobs, -EVERY
        self._console = console(stderr=True)
        self.bar = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("cells"),
            TimeElapsedColumn(),
            console=self._console,
            transient=True,
            disable=not self._console.is_terminal,
        )
        self._task = self.bar.add_task("", total=None)

    def show(self) -> None:
        """Brings the line up to date, if it has been a while."""
        if self.bar.disable or time.monotonic() < self._latest + EVERY:
            return
        states = [read_state(self._folder, job) for job in self._jobs]
        counts = Counter[str](state["status"] for state in states)
        finished, cells = (sum(numbers) for numbers in zip(*map(cells_of, states), strict=True))
        words = ", ".join(f"{counts[name]} {name}" for name in SHOWN if counts[name])
        self.bar.update(self._task, description=words, completed=finished, total=cells or None)
        self._latest = time.monotonic()

    def ended(self, job: Job) -> None:
        """Prints how a job ended."""
        state = read_state(self._folder, job)
        finished, cells = cells_of(state)
        why = f": {reasons[0]}" if (reasons := reasons_of(state)) else f", {finished} of {cells} cells"
        self._console.print(one_line(f"{job.name} {state['status']}{why}"), soft_wrap=True)
