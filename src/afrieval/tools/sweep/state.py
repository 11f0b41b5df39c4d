"""How far a job is: written by its worker, and read while it runs."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal, NamedTuple, cast

from typing_extensions import TypedDict

from afrieval._util.files import read_bytes
from afrieval._util.schema import OPEN, validated_json
from afrieval._util.whole_files import write_whole
from afrieval.tools.sweep.jobs import Job, is_held, job_folder

STATE = "state.json"
Status = Literal["waiting", "running", "done", "failed", "stopped"]


class RunState(TypedDict):
    """How far a run is.

    Attributes:
        folder: in that of the sweep; empty while it is unknown.
        reason: why it failed.
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
        reason: why it stopped.
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


class JobProgress(NamedTuple):
    """A job and how far it is.

    Attributes:
        listed: whether the sweep file still has it.
        queue: its id in SLURM and what SLURM says of it; empty if it is not there.
    """

    job: Job
    state: State
    listed: bool = True
    queue: str = ""


def new_state(job: Job) -> State:
    """Returns the state of a job that was never started."""
    run = {"folder": "", "status": "waiting", "reason": "", "cells": 0, "finished": 0}
    runs = [dict(run) for _ in job.runs]
    found = {"job": job.digest, "status": "waiting", "reason": "", "since": "", "seconds_left": None, "runs": runs}
    return cast(State, found)


def read_state(folder: Path, job: Job) -> State:
    """Returns how far a job is.

    A job whose worker was killed is stopped, and one that has changed since is waiting.

    Args:
        folder: of the sweep.
        job: as its file has it now.

    Raises:
        UserError: if the state is damaged.
    """
    there = job_folder(folder, job.name)
    running = is_held(there)  # before the file: a worker that ends in between has written its last word
    path = there / STATE
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
    """Writes how far a job is; arguments are those of `read_state`."""
    write_whole(job_folder(folder, job.name) / STATE, json.dumps(state, indent=1, ensure_ascii=False).encode())


def crashed(folder: Path, job: Job, reason: str) -> bool:
    """Stores why a worker ended that could not do so itself; returns whether the job has other runs that are left.

    The run that crashed it has failed; the job's other runs have not.

    Args:
        folder: of the sweep.
        job: the job.
        reason: how its process ended.
    """
    state = read_state(folder, job)
    runs = state["runs"]
    begun = [run for run in runs if run["status"] == "running"] or [run for run in runs if run["status"] == "waiting"]
    for run in begun:
        run |= {"status": "failed", "reason": reason}
    left = any(run["status"] == "waiting" for run in runs)
    write_state(folder, job, {**state, "status": "stopped" if left else "failed", "since": now()})
    return left


def now() -> str:
    """Returns the date and time, as states have it."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def cells_of(state: State) -> tuple[int, int]:
    """Returns how many cells of a job are stored, and how many it has, as far as they are known."""
    return sum(run["finished"] for run in state["runs"]), sum(run["cells"] for run in state["runs"])


def reasons_of(state: State) -> list[str]:
    """Returns why a job failed or stopped."""
    return [reason for reason in dict.fromkeys([state["reason"], *(run["reason"] for run in state["runs"])]) if reason]
