"""`afrieval sweep`: runs models, suites and settings in all combinations, and shows how far they are."""

from collections import Counter
from typing import TYPE_CHECKING

from afrieval._util.errors import UserError
from afrieval._util.files import user_path
from afrieval._util.resources import here_or_shipped
from afrieval._util.terminal import note, one_line, say
from afrieval.cli.commands.options import SweepCommand
from afrieval.config.arguments import read_options

if TYPE_CHECKING:
    from pathlib import Path

    from afrieval.tools.sweep.jobs import Job
    from afrieval.tools.sweep.sweep_file import SweepFile as Content


def main(argv: list[str]) -> int:
    """Starts the jobs of a sweep file that are left, or prints what it is asked for.

    Returns:
        0, or 1 if jobs have failed or were stopped.
    """
    options = read_options(SweepCommand, argv, "sweep")
    if options.status and (options.dry_run or options.retry_failed):
        raise UserError("--status starts nothing, but another option is given with it", "leave one of them out")
    from afrieval.tools.sweep.combinations import jobs_of
    from afrieval.tools.sweep.sweep_file import folder_of, read_sweep

    sweep, found = read_sweep(here_or_shipped(user_path(options.file)))
    jobs, folder = jobs_of(sweep, found), folder_of(sweep)
    if options.dry_run:
        return _dry_run(folder, jobs)
    if options.status:
        return _status(folder, jobs)
    return _start(folder, jobs, sweep, options)


def _dry_run(folder: "Path", jobs: "list[Job]") -> int:
    from afrieval.report.formats import show
    from afrieval.tools.sweep.start import planned_parts
    from afrieval.tools.sweep.tables import plan_table

    show([plan_table(f"Jobs of {folder}", planned_parts(folder, jobs))])
    return 0


def _status(folder: "Path", jobs: "list[Job]") -> int:
    from afrieval.report.formats import show
    from afrieval.tools.sweep.tables import progress, status_table

    found = progress(folder, jobs)
    if not folder.exists():
        note(f"the folder {one_line(folder)} does not exist: the sweep has not been started here")
    show([status_table(f"Jobs of {folder}", found)])
    return int(any(each.state["status"] == "failed" for each in found if each.listed))


def _start(folder: "Path", jobs: "list[Job]", sweep: "Content", options: SweepCommand) -> int:
    from afrieval.tools.sweep.start import start_left
    from afrieval.tools.sweep.tables import progress

    executor = options.executor or sweep.executor
    start_left(folder, jobs, sweep, executor, options.retry_failed)
    counts = Counter(each.state["status"] for each in progress(folder, jobs) if each.listed)
    say(
        ", ".join(f"{counts[name]} {name}" for name in counts)
        + f" of {len(jobs)} {'job' if len(jobs) == 1 else 'jobs'}"
    )
    say(f"Run folders: {one_line(folder / 'runs')}")
    if counts["running"]:
        note(f"{counts['running']} of them were started by another command, which may have been killed")
    if stopped := counts["stopped"]:
        note(f"{'1 job was' if stopped == 1 else f'{stopped} jobs were'} stopped; the same command continues")
    if failed := counts["failed"]:
        jobs_failed = "1 job failed" if failed == 1 else f"{failed} jobs failed"
        note(f"{jobs_failed}; --status says why, and --retry-failed runs {'it' if failed == 1 else 'them'} again")
    return int(counts["done"] < len(jobs) if executor != "slurm" else counts["failed"] > 0)
