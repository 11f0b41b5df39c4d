"""The table of `afrieval doctor`: what was checked, what was found, and what to do."""

from collections.abc import Sequence

from afrieval.doctor.finding import Finding
from afrieval.report.table import Column, Table


def doctor_table(found: Sequence[Finding]) -> Table:
    """Returns a table with a row for each finding."""
    columns = [Column("check"), Column("status"), Column("found"), Column("cure")]
    problems = sum(finding.status == "problem" for finding in found)
    said = {0: "No problem was found.", 1: "1 problem was found."}.get(problems, f"{problems} problems were found.")
    notes = ["Notes do not keep a run from working."]
    return Table("doctor", "This machine", columns, [list(finding) for finding in found], notes, [said])
