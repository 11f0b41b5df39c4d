"""Keeps state.json of a running job up to date."""

import time
from pathlib import Path
from typing import Any

from afrieval.results.run_files import RUN
from afrieval.run.progress import RemainingTime
from afrieval.tasks.cells.cell import Cell
from afrieval.tools.sweep.job_part import JobPart
from afrieval.tools.sweep.jobs import Job
from afrieval.tools.sweep.state import RunState, Status, new_state, now, read_state, write_state


class Tracker:
    """Counts the cells of a job as they are stored, and writes its state each time.

    Args:
        folder: of the sweep.
        job: the job, which this process has locked.
    """

    def __init__(self, folder: Path, job: Job):
        self._folder, self._job = folder, job
        before = read_state(folder, job)
        self._state = before if before["job"] == job.digest else new_state(job)
        self._pace, self._waiting = RemainingTime(), set[tuple[int, str]]()
        self._latest = time.monotonic()

    @property
    def left(self) -> list[int]:
        """The numbers of runs that are neither done nor failed."""
        return [at for at, run in enumerate(self._state["runs"]) if not self._ended(run)]

    @property
    def failed(self) -> bool:
        """Whether a run has failed."""
        return any(run["status"] == "failed" for run in self._state["runs"])

    def change(self, status: Status, reason: str = "") -> None:
        """Stores the status of the job."""
        self._state |= {"status": status, "reason": reason, "since": now()}
        self._write()

    def expect(self, at: int, part: JobPart) -> None:
        """Stores how much of a run there is to do.

        Args:
            at: its number.
            part: what the job has of it.
        """
        left = [cell for cell in part.cells if not part.done(cell)]
        for cell in left:
            self._waiting.add((at, cell.name))
            self._pace.add(cell)
        finished = len(part.cells) - len(left)
        self._set(at, folder=str(part.session.stored.path), cells=len(part.cells), finished=finished)

    def begin(self, at: int) -> None:
        """Stores that a run is at work."""
        self._set(at, status="running")

    def loaded(self) -> None:
        """Begins to measure time, once the model is loaded."""
        self._latest = time.monotonic()

    def cell(self, at: int, cell: Cell) -> None:
        """Stores that a cell of a run is done."""
        seconds, self._latest = time.monotonic() - self._latest, time.monotonic()
        if (at, cell.name) in self._waiting:
            self._waiting.remove((at, cell.name))
            self._pace.end(cell, seconds)
            self._set(at, finished=self._state["runs"][at]["finished"] + 1)

    def end(self, at: int, reason: str = "") -> None:
        """Stores that a run is done, or the reason why it failed."""
        self._set(at, status="failed" if reason else "done", reason=reason)

    def _ended(self, run: RunState) -> bool:
        return run["status"] == "failed" or (run["status"] == "done" and (self._folder / run["folder"] / RUN).exists())

    def _set(self, at: int, **changes: Any) -> None:
        self._state["runs"][at] |= changes  # type: ignore[typeddict-item]
        self._write()

    def _write(self) -> None:
        self._state["seconds_left"] = round(self._pace.seconds, 1) if self._pace.timed else None
        write_state(self._folder, self._job, self._state)
