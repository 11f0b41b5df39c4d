"""Starts the jobs of a sweep that are left."""

import importlib
from collections.abc import Sequence
from pathlib import Path

from afrieval.errors import UserError, reason
from afrieval.files.folders import made
from afrieval.sweeps.jobs import Job, read_job, stored_jobs, write_jobs
from afrieval.sweeps.locks import held
from afrieval.sweeps.schema import Executor, Sweep
from afrieval.sweeps.slurm import with_queue
from afrieval.sweeps.state import Progress, new_state, read_state, write_state

EXECUTORS: dict[Executor, str] = {"local": "local", "slurm": "slurm", "ray": "ray_cluster"}  # modules of this room


def start_left(folder: Path, jobs: Sequence[Job], sweep: Sweep, executor: Executor, retry: bool) -> None:
    """Starts all jobs that are neither done nor running; those that have failed only if asked to.

    Args:
        folder: of the sweep.
        jobs: those of its file.
        sweep: the content of the file.
        executor: what starts them.
        retry: whether to run failed ones again.

    Raises:
        UserError: if another process has started the same sweep, or the executor cannot start them.
    """
    with held(made(folder), patience=0) as free:
        if not free:
            raise UserError(f"the sweep in {folder} is in use by another process", "wait for it; --status shows it")
        write_jobs(folder, jobs)
        if retry:
            for job in jobs:
                _reset(folder, job)
        left = [job for job in jobs if read_state(folder, job)["status"] in ("waiting", "stopped")]
        if left:
            importlib.import_module(f"afrieval.sweeps.{EXECUTORS[executor]}").start(folder, left, sweep)


def progress(folder: Path, jobs: Sequence[Job]) -> list[Progress]:
    """Returns how far jobs are, and those that the sweep file does not have any more.

    Args:
        folder: of the sweep.
        jobs: those of its file.
    """
    names = {job.name for job in jobs}
    former = [_former(folder, name) for name in stored_jobs(folder) if name not in names]
    return with_queue(folder, [*(_progress(folder, job) for job in jobs), *former])


def _progress(folder: Path, job: Job) -> Progress:
    """Returns how far a job is; one whose state cannot be read has failed, and hides no other."""
    try:
        return Progress(job, read_state(folder, job))
    except (UserError, OSError) as e:
        return _unknown(job, e)


def _former(folder: Path, name: str) -> Progress:
    try:
        found = _progress(folder, read_job(folder, name))
    except (UserError, OSError) as e:
        found = _unknown(Job(name, []), e)
    return found._replace(listed=False)


def _unknown(job: Job, error: UserError | OSError) -> Progress:
    return Progress(job, {**new_state(job), "status": "failed", "reason": reason(error)})


def _reset(folder: Path, job: Job) -> None:
    state = read_state(folder, job)
    if state["status"] != "failed":
        return
    for run in state["runs"]:
        if run["status"] == "failed":
            run |= {"status": "waiting", "reason": ""}
    write_state(folder, job, {**state, "status": "waiting", "reason": ""})
