"""`afrieval sweep`: runs models, suites and settings in all combinations, and shows how far they are."""

from collections import Counter
from pathlib import Path

from afrieval._util.errors import UserError
from afrieval._util.files import user_path
from afrieval._util.resources import here_or_shipped
from afrieval._util.terminal import note, one_line, say
from afrieval.addons.sweep.combinations import jobs_of
from afrieval.addons.sweep.sweep_file import folder_of, read_sweep
from afrieval.addons.sweep.sweep_options import SweepCommand
from afrieval.addons.sweep.tables import plan_table, progress, status_table
from afrieval.config.arguments import read_options
from afrieval.report.formats import show
from afrieval.tools.jobs.start import EXECUTORS, start_left


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
