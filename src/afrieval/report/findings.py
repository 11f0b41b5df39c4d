"""What checks of data found, as a table."""

from afrieval.languages import LANGUAGES
from afrieval.quality.findings import KINDS, Finding
from afrieval.report.table import Column, Table

COLUMNS = [
    Column("split"),
    Column("language", "language"),
    Column("finding", "name"),
    Column("", "hidden", "kind"),
    Column("rows", "count", "n"),
    Column("known", "count"),
    Column("numbers", "name", "-"),
    *(Column("", "hidden", key) for key in ("row_numbers", "witnesses", "detail")),
]


def finding_table(task: str, found: list[Finding], rows: int) -> Table:
    """Returns a row per finding.

    Args:
        task: the task's name.
        found: what the checks found in its data.
        rows: maximum number of row numbers to show for each.
    """
    return Table(
        kind="findings",
        title=f"{task}: {'findings in its data' if found else 'nothing found in its data'}",
        columns=COLUMNS,
        rows=[_row(finding, rows) for finding in found],
        notes=["known: rows that known_defects.yaml lists."] if found else [],
        findings=[_sentence(finding) for finding in found if finding.detail],
        about={"task": task},
    )


def _row(finding: Finding, most: int) -> list[object]:
    more = " ..." if len(finding.rows) > most else ""
    numbers = "all" if finding.whole else " ".join(map(str, finding.rows[:most])) + more
    place = [finding.split, finding.language, KINDS[finding.kind], finding.kind, len(finding.rows), finding.n_known]
    return [*place, numbers, list(finding.rows), list(finding.witnesses), finding.detail]


def _sentence(finding: Finding) -> str:
    return f"{LANGUAGES[finding.language].name} {finding.split}, {KINDS[finding.kind]}: {finding.detail}."
