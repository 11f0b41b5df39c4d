"""Starts the jobs of a sweep that are left, or says what they would run."""

import importlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import ModuleType

from afrieval._util.errors import UserError
from afrieval._util.grouping import grouped
from afrieval._util.whole_files import made
from afrieval.config.files import run_config
from afrieval.run.session import plan_run
from afrieval.tools.cell_makers import MAKERS
from afrieval.tools.sweep.job_part import part_of
from afrieval.tools.sweep.jobs import Executor, Job, held, write_jobs
from afrieval.tools.sweep.state import read_state, store_end, write_state
from afrieval.tools.sweep.sweep_file import ExecutorName, SweepFile
from afrieval.tools.sweep.tables import PlannedPart, Screen

EXECUTORS: dict[ExecutorName, str] = {"local": "local", "slurm": "slurm", "ray": "ray_cluster"}  # modules of this room


def start_left(folder: Path, jobs: Sequence[Job], sweep: SweepFile, executor: ExecutorName, retry: bool) -> None:
    """Starts all jobs that are neither done nor running; those that have failed only if asked to.

    Raises:
        UserError: if another process has started the same sweep, or the executor cannot start them.
    """
    with held(made(folder), patience=0) as free:
        if not free:
            raise UserError(f"{folder} is in use by another process", "wait for it; --status shows a sweep")
        write_jobs(folder, jobs)
        if retry:
            for job in jobs:
                _reset(folder, job)
        left = [job for job in jobs if read_state(folder, job)["status"] in ("waiting", "stopped")]
        if left:
            with _module(executor).opened(folder, left, sweep) as opened:
                run_jobs(folder, left, opened)


def check_executor(executor: ExecutorName) -> None:
    """Raises UserError, naming what is missing, if an executor lacks programs or packages here."""
    _module(executor).check_installed()


def _module(executor: ExecutorName) -> ModuleType:
    return importlib.import_module(f"afrieval.tools.sweep.{EXECUTORS[executor]}")


def run_jobs(folder: Path, jobs: Sequence[Job], executor: Executor) -> None:
    """Runs jobs until all have ended, if the executor waits for them; Ctrl-C ends them, too."""
    if not executor.waits:
        executor.submit(jobs)
        return
    left = len(jobs)
    screen = Screen(folder, jobs)
    with screen.bar:
        try:
            executor.submit(jobs)
            while left:
                for ended in executor.poll():
                    if store_end(folder, ended):
                        executor.submit([ended.job])
                    else:
                        left -= 1
                        screen.ended(ended.job)
                screen.show()
        finally:
            executor.cancel()


def _reset(folder: Path, job: Job) -> None:
    state = read_state(folder, job)
    if state["status"] != "failed":
        return
    for run in state["runs"]:
        if run["status"] == "failed":
            run |= {"status": "waiting", "reason": ""}
    write_state(folder, job, {**state, "status": "waiting", "reason": ""})


def planned_parts(folder: Path, jobs: Sequence[Job]) -> Iterator[PlannedPart]:
    """Yields the parts of all jobs, grouped by run.

    Raises:
        UserError: for data that is missing, or prompts that cannot be filled in.
    """
    for sharing in grouped(jobs, lambda job: job.model).values():
        for options in sharing[0].runs:
            config = run_config(options, needs_model=True)
            session = plan_run(config, dry=True, makers=MAKERS)
            for job in sharing:
                part = part_of(folder, job, session)
                cells, left = len(part.cells), part.left
                requests = sum(cell.n_requests for cell in left)
                yield PlannedPart(job.name, str(part.session.stored.path), cells, cells - len(left), requests)
