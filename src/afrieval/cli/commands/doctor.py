"""`afrieval doctor`: checks this machine, and whether it has what a config needs. Runs no model."""

from pathlib import Path
from typing import TYPE_CHECKING

from afrieval._util.errors import UserError
from afrieval._util.files import user_path
from afrieval._util.resources import here_or_shipped
from afrieval.cli.commands.options import DoctorCommand
from afrieval.cli.commands.outputs import write_tables
from afrieval.config.arguments import read_given, run_config
from afrieval.config.settings import RunConfig

if TYPE_CHECKING:
    from afrieval.tools.sweep.sweep_file import ExecutorName


def main(argv: list[str]) -> int:
    """Prints what was found; returns 1 if there is a problem."""
    options, settings = read_given(DoctorCommand, argv, "doctor")
    from afrieval.tools.doctor.check import check_all, doctor_table

    if options.sweep is None:
        findings = check_all([run_config(settings, needs_model=False, needs_task=False)])
    elif settings:
        raise UserError(f"--sweep is given with {next(iter(settings))}", "give a sweep file, or the options of a run")
    else:
        findings = check_all(*_of_sweep(here_or_shipped(user_path(options.sweep))))
    write_tables([doctor_table(findings)], options)
    return int(any(finding.status == "problem" for finding in findings))


def _of_sweep(path: Path) -> "tuple[list[RunConfig], ExecutorName]":
    """Returns the configs of all runs of a sweep, and its executor."""
    from afrieval.tools.sweep.combinations import jobs_of
    from afrieval.tools.sweep.sweep_file import folder_of, read_sweep

    sweep, sweep_file = read_sweep(path)
    runs = [run for job in jobs_of(sweep, sweep_file) if job.share == 1 for run in job.runs]
    folder = {"run_dir": str(folder_of(sweep))}
    return [run_config(run | folder, needs_model=True) for run in runs], sweep.executor
