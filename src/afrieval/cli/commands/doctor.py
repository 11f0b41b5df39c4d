"""`afrieval doctor`: checks this machine, and whether it has what a config needs. Runs no model."""

from afrieval._util.errors import UserError
from afrieval._util.files import user_path
from afrieval._util.resources import here_or_shipped
from afrieval.cli.commands.outputs import write_tables
from afrieval.cli.declarations.running import DoctorCommand
from afrieval.config.arguments import read_given, run_config
from afrieval.tools.doctor.check import FILES_OF_RUNS, check_all, doctor_table


def main(argv: list[str]) -> int:
    """Prints what was found; returns 1 if there is a problem."""
    options, settings = read_given(DoctorCommand, argv, "doctor")

    if options.sweep is None:
        findings = check_all([run_config(settings, needs_model=False, needs_task=False)])
    elif settings:
        raise UserError(f"--sweep is given with {next(iter(settings))}", "give a sweep file, or the options of a run")
    else:
        findings = check_all(*FILES_OF_RUNS["sweep"](here_or_shipped(user_path(options.sweep))))
    write_tables([doctor_table(findings)], options)
    return int(any(finding.status == "problem" for finding in findings))
