"""How far a sweep is and what its jobs would do, as tables."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from afrieval._util.errors import UserError, reason
from afrieval._util.grouping import grouped
from afrieval.addons.sweep.slurm import JobProgress, with_queue
from afrieval.config.files import run_config
from afrieval.report.columns import Column
from afrieval.report.table import Table
from afrieval.run.progress import clock
from afrieval.tools.jobs.jobs import Job, read_job, stored_jobs
from afrieval.tools.jobs.state import cells_of, new_state, read_state, reasons_of


def progress(folder: Path, jobs: Sequence[Job]) -> list[JobProgress]:
    """Returns how far jobs are, and those that the sweep file does not have any more.

    A job whose files cannot be read has failed, and hides no other.
    """
    listed, states = {job.name: job for job in jobs}, list[JobProgress]()
    for name in dict.fromkeys([*listed, *stored_jobs(folder)]):
        try:
            job = listed.get(name) or read_job(folder, name)
            state = read_state(folder, job)
        except (UserError, OSError) as e:
            job = listed.get(name) or Job(name, [])
            state = {**new_state(job), "status": "failed", "reason": reason(e)}
        states.append(JobProgress(job, state, name in listed))
    return with_queue(folder, states)


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


def plan_table(folder: Path, jobs: Sequence[Job]) -> Table:
    """Returns what each job would run, grouped by run: its cells, and about how many requests are left.

    Raises:
        UserError: for data that is missing, or prompts that cannot be filled in.
    """
    from afrieval.run.session import plan_run  # it takes seconds, and the status of jobs does not need it
    from afrieval.tools.jobs.job_worker import share_of_job

    columns = [Column("job"), Column("run"), Column("cells", "count"), Column("stored", "count")]
    columns += [Column("requests", "amount")]
    rows: list[list[Any]] = []
    for sharing in grouped(jobs, lambda job: job.model).values():
        for options in sharing[0].runs:
            session = plan_run(run_config(options, needs_model=True), dry=True)
            for job in sharing:
                share = share_of_job(folder, job, session)
                cells, left = len(share.cells), share.left
                requests = sum(cell.n_requests for cell in left)
                rows.append([job.name, str(share.session.stored.path), cells, cells - len(left), requests])
    return Table("sweep-jobs", f"Jobs of {folder}", columns, rows)
