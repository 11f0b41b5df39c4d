"""`afrieval sweep`: runs models, suites and settings in all combinations, and shows how far they are."""

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from afrieval._util.errors import UserError, reason
from afrieval._util.files import user_path
from afrieval._util.grouping import grouped
from afrieval._util.resources import here_or_shipped
from afrieval._util.terminal import note, one_line, say
from afrieval.addons.sweep.combinations import jobs_of
from afrieval.addons.sweep.slurm import JobProgress, with_queue
from afrieval.addons.sweep.sweep_file import folder_of, read_sweep
from afrieval.addons.sweep.sweep_options import SweepCommand
from afrieval.config.arguments import read_options
from afrieval.config.files import run_config
from afrieval.report.columns import Column
from afrieval.report.formats import show
from afrieval.report.table import Table
from afrieval.run.progress import clock
from afrieval.tools.jobs.jobs import Job, read_job, stored_jobs
from afrieval.tools.jobs.start import EXECUTORS, start_left
from afrieval.tools.jobs.state import cells_of, new_state, read_state, reasons_of


def main(argv: list[str]) -> int:
    """Starts the jobs of a sweep file that are left, or prints what it is asked for.

    Returns:
        0, or 1 if jobs have failed or were stopped.
    """
    options = read_options(SweepCommand, argv, "sweep")
    if options.status and (options.dry_run or options.retry_failed):
        raise UserError("--status starts nothing, but another option is given with it", "leave one of them out")

    sweep, sweep_file = read_sweep(here_or_shipped(user_path(options.file)))
    jobs, folder = jobs_of(sweep, sweep_file), folder_of(sweep)
    if options.dry_run:
        show([plan_table(folder, jobs)])
        return 0
    if options.status:
        states = progress(folder, jobs)
        if not folder.exists():
            note(f"the folder {one_line(folder)} does not exist: the sweep has not been started here")
        show([status_table(f"Jobs of {folder}", states)])
        return int(any(each.state["status"] == "failed" for each in states if each.listed))

    executor = options.executor or sweep.executor
    settings = sweep.settings_of(executor)
    start_left(folder, jobs, lambda *part: EXECUTORS[executor].opened(*part, settings), options.retry_failed)
    counts: Counter[str] = Counter(each.state["status"] for each in progress(folder, jobs) if each.listed)
    _print_counts(folder, counts, len(jobs))
    return int(counts["done"] < len(jobs) if executor != "slurm" else counts["failed"] > 0)


def _print_counts(folder: Path, counts: Counter[str], jobs: int) -> None:
    counted = ", ".join(f"{count} {name}" for name, count in counts.items())
    say(f"{counted} of {jobs} {'job' if jobs == 1 else 'jobs'}")
    say(f"Run folders: {one_line(folder / 'runs')}")
    if counts["running"]:
        note(f"{counts['running']} of them were started by another command, which may have been killed")
    if stopped := counts["stopped"]:
        note(f"{'1 job was' if stopped == 1 else f'{stopped} jobs were'} stopped; the same command continues")
    if failed := counts["failed"]:
        jobs_failed = "1 job failed" if failed == 1 else f"{failed} jobs failed"
        note(f"{jobs_failed}; --status says why, and --retry-failed runs {'it' if failed == 1 else 'them'} again")


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
    columns = [Column("job"), Column("status"), *queue, Column("done", "count"), Column("cells", "count")]
    columns += [Column("left"), Column("since (UTC)", key="since"), Column("why")]
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
