"""How far a job is: written by its worker, and read while it runs."""

import json
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal, cast

from typing_extensions import TypedDict

from afrieval._util.files import read_bytes
from afrieval._util.schema import OPEN, validated_json
from afrieval._util.stamps import now
from afrieval._util.whole_files import write_whole
from afrieval.results.run_files import RUN
from afrieval.run.progress import RemainingTime
from afrieval.tasks.cells.cell import Cell
from afrieval.tools.jobs.jobs import EndedJob, Job, is_held, job_folder

STATE = "state.json"
Status = Literal["waiting", "running", "done", "failed", "stopped"]


class RunState(TypedDict):
    """How far a run is.

    Attributes:
        folder: within that of the jobs; empty while it is unknown.
        cells: the job's share of its cells.
        finished: how many of them are stored.
    """

    __pydantic_config__ = OPEN  # type: ignore[misc]
    folder: str
    status: Status
    reason: str
    cells: int
    finished: int


class State(TypedDict):
    """state.json.

    Attributes:
        job: hash of what the job ran.
        since: when the status changed.
        seconds_left: estimated time until the job is done; None while it is unknown.
        runs: in the order of job.yaml.
    """

    __pydantic_config__ = OPEN  # type: ignore[misc]
    job: str
    status: Status
    reason: str
    since: str
    seconds_left: float | None
    runs: list[RunState]


def new_state(job: Job) -> State:
    """Returns the state of a job that was never started."""
    run = {"folder": "", "status": "waiting", "reason": "", "cells": 0, "finished": 0}
    runs = [dict(run) for _ in job.runs]
    state = {"job": job.digest, "status": "waiting", "reason": "", "since": "", "seconds_left": None, "runs": runs}
    return cast(State, state)


def read_state(folder: Path, job: Job) -> State:
    """Returns how far a job is.

    A job whose worker was killed is stopped, and one that has changed since is waiting.

    Raises:
        UserError: if the state is damaged.
    """
    job_path = job_folder(folder, job.name)
    running = is_held(job_path)  # before the file: a worker that ends in between has written its last word
    path = job_path / STATE
    if not path.exists():
        return {**new_state(job), "status": "running" if running else "waiting"}
    hint = f"delete {path}; what is stored in run folders is not run again"
    state = validated_json(State, read_bytes(path, hint), str(path), hint)
    if running:
        state["status"] = "running"
    elif state["job"] != job.digest:
        return new_state(job)
    elif state["status"] == "running":
        state["status"] = "stopped"
    return state


def write_state(folder: Path, job: Job, state: State) -> None:
    """Writes how far a job is."""
    write_whole(job_folder(folder, job.name) / STATE, json.dumps(state, indent=1, ensure_ascii=False).encode())


def store_end(folder: Path, ended: EndedJob) -> bool:
    """Stores why a worker ended that could not do so itself; returns whether the job has other runs that are left.

    The run that crashed it has failed; the job's other runs have not.
    """
    if not ended.reason:
        return False
    state = read_state(folder, ended.job)
    runs = state["runs"]
    if not ended.crashed:
        write_state(folder, ended.job, {**state, "status": "stopped", "reason": ended.reason, "since": now()})
        return False
    begun = [run for run in runs if run["status"] == "running"] or [run for run in runs if run["status"] == "waiting"]
    for run in begun:
        run |= {"status": "failed", "reason": ended.reason}
    left = any(run["status"] == "waiting" for run in runs)
    write_state(folder, ended.job, {**state, "status": "stopped" if left else "failed", "since": now()})
    return left


def cells_of(state: State) -> tuple[int, int]:
    """Returns how many cells of a job are stored, and how many it has, as far as they are known."""
    return sum(run["finished"] for run in state["runs"]), sum(run["cells"] for run in state["runs"])


def reasons_of(state: State) -> list[str]:
    """Returns why a job failed or stopped."""
    return [reason for reason in dict.fromkeys([state["reason"], *(run["reason"] for run in state["runs"])]) if reason]


class Tracker:
    """Counts the cells of a job as they are stored, and writes its state each time."""

    def __init__(self, folder: Path, job: Job):
        self._folder, self._job = folder, job
        before = read_state(folder, job)
        self._state = before if before["job"] == job.digest else new_state(job)
        self._pace, self._waiting = RemainingTime(), set[tuple[int, str]]()
        self._latest = time.monotonic()

    @property
    def left(self) -> list[int]:
        """The numbers of runs that are neither done nor failed."""

        def is_left(run: RunState) -> bool:
            is_gone = run["status"] == "done" and not (self._folder / run["folder"] / RUN).exists()
            return is_gone or run["status"] not in ("done", "failed")

        return [at for at, run in enumerate(self._state["runs"]) if is_left(run)]

    @property
    def failed(self) -> bool:
        """Whether a run has failed."""
        return any(run["status"] == "failed" for run in self._state["runs"])

    def change(self, status: Status, reason: str = "") -> None:
        """Stores the status of the job."""
        self._state |= {"status": status, "reason": reason, "since": now()}
        self._write()

    def expect(self, number: int, run_path: Path, cells: int, left: Sequence[Cell]) -> None:
        """Stores how much of a run there is to do."""
        for cell in left:
            self._waiting.add((number, cell.name))
            self._pace.add(cell)
        self._set(number, folder=str(run_path), cells=cells, finished=cells - len(left))

    def begin(self, number: int) -> None:
        """Stores that a run is at work."""
        self._set(number, status="running")

    def loaded(self) -> None:
        """Begins to measure time, once the model is loaded."""
        self._latest = time.monotonic()

    def cell(self, number: int, cell: Cell) -> None:
        """Stores that a cell of a run is done."""
        seconds, self._latest = time.monotonic() - self._latest, time.monotonic()
        if (number, cell.name) in self._waiting:
            self._waiting.remove((number, cell.name))
            self._pace.end(cell, seconds)
            self._set(number, finished=self._state["runs"][number]["finished"] + 1)

    def end(self, number: int, reason: str = "") -> None:
        """Stores that a run is done, or the reason why it failed."""
        self._set(number, status="failed" if reason else "done", reason=reason)

    def _set(self, number: int, **changes: Any) -> None:
        self._state["runs"][number] |= changes  # type: ignore[typeddict-item]
        self._write()

    def _write(self) -> None:
        self._state["seconds_left"] = round(self._pace.seconds, 1) if self._pace.timed else None
        write_state(self._folder, self._job, self._state)
