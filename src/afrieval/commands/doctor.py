"""`afrieval doctor`: checks this machine, and whether it has what a config needs. Runs no model."""

from afrieval.commands.options import Doctor
from afrieval.commands.outputs import write_tables
from afrieval.config.arguments import read_given, run_config


def main(argv: list[str]) -> int:
    """Prints what was found; returns 1 if there is a problem.

    Raises:
        UserError: for an invalid config.
    """
    options, given = read_given(Doctor, argv, "doctor")
    config = run_config(given, needs_model=False, needs_task=False)
    from afrieval.doctor.check import check_all
    from afrieval.report.doctor import doctor_table

    found = check_all([config])
    write_tables([doctor_table(found)], options)
    return int(any(finding.status == "problem" for finding in found))
