"""Starts the jobs of a sweep that are left."""

import importlib
from collections.abc import Sequence
from pathlib import Path

from afrieval.errors import UserError
from afrieval.sweeps.jobs import Job, stored_jobs, write_jobs
from afrieval.sweeps.locks import held
from afrieval.sweeps.schema import Executor, Sweep
from afrieval.sweeps.slurm import with_queue
from afrieval.sweeps.state import Progress, read_state, write_state

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
    folder.mkdir(parents=True, exist_ok=True)
    with held(folder, patience=0) as free:
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

    Raises:
        UserError: if a file of a job is damaged.
    """
    names = {job.name for job in jobs}
    former = [job for job in stored_jobs(folder) if job.name not in names]
    listed = [Progress(job, read_state(folder, job)) for job in jobs]
    return with_queue(folder, [*listed, *(Progress(job, read_state(folder, job), listed=False) for job in former)])


def _reset(folder: Path, job: Job) -> None:
    state = read_state(folder, job)
    if state["status"] != "failed":
        return
    for run in state["runs"]:
        if run["status"] == "failed":
            run |= {"status": "waiting", "reason": ""}
    write_state(folder, job, {**state, "status": "waiting", "reason": ""})
