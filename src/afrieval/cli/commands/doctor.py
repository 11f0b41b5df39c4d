"""`afrieval doctor`: checks this machine, and whether it has what a config needs. Runs no model."""

from afrieval._util.errors import UserError
from afrieval._util.files import user_path
from afrieval._util.resources import here_or_shipped
from afrieval.cli.commands.outputs import write_tables
from afrieval.cli.declarations.added import DoctorCommand
from afrieval.config.arguments import read_given
from afrieval.config.commands import FILES_OF_RUNS, imported
from afrieval.config.files import run_config
from afrieval.tools.doctor.check import check_all, doctor_table


def main(argv: list[str]) -> int:
    """Prints what was found; returns 1 if there is a problem."""
    options, settings = read_given(DoctorCommand, argv, "doctor")

    files = {name: path for name in FILES_OF_RUNS if (path := getattr(options, name)) is not None}
    if not files:
        findings = check_all([run_config(settings, needs_model=False, needs_task=False)])
    for name, path in files.items():
        if settings:
            problem = f"--{name} is given with {next(iter(settings))}"
            raise UserError(problem, f"give a {name} file, or the options of a run")
        findings = check_all(*imported(FILES_OF_RUNS[name].configs)(here_or_shipped(user_path(path))))
    write_tables([doctor_table(findings)], options)
    return int(any(finding.status == "problem" for finding in findings))
