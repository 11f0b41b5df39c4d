"""What checks of data found, as a table."""

from afrieval.languages import LANGUAGES
from afrieval.quality.findings import DEFECTS, KINDS, NOTICES, Finding
from afrieval.report.table import Column, Table

COLUMNS = [
    Column("split"),
    Column("language", "language"),
    Column("finding", "name"),
    Column("", "hidden", "kind"),
    Column("rows", "count", "n"),
    Column("known", "count"),
    Column("numbers", "name", "-"),
    *(Column("", "hidden", key) for key in ("row_numbers", "witnesses", "detail", "whole", "new")),
]
NOTE = "known: rows that known_defects.yaml lists. Findings below the blank line are often harmless; read the rows."


def finding_table(task: str, found: list[Finding], rows: int) -> Table:
    """Returns a row per finding, defects first.

    Args:
        task: the task's name.
        found: what the checks found in its data.
        rows: maximum number of row numbers to show for each.
    """
    ordered = sorted(found, key=lambda finding: finding.kind in NOTICES)
    n_defects = sum(finding.kind in DEFECTS for finding in found)
    return Table(
        kind="findings",
        title=f"{task}: {'findings in its data' if found else 'nothing found in its data'}",
        columns=COLUMNS if found else [],
        rows=[_row(finding, rows) for finding in ordered],
        notes=[NOTE] if found else [],
        findings=[
            _sentence(finding, rows) for finding in ordered if finding.is_new and (finding.detail or finding.each)
        ],
        about={"task": task},
        ends={n_defects - 1} if 0 < n_defects < len(found) else (),
    )


def _row(finding: Finding, most: int) -> list[object]:
    more = " ..." if len(finding.rows) > most else ""
    numbers = "all" if finding.whole else " ".join(map(str, finding.rows[:most])) + more
    counts = [len(finding.rows), finding.n_known]
    hidden = [[*finding.rows], [*finding.witnesses], _sentence(finding, len(finding.rows)), finding.whole]
    place = [finding.split, finding.language, KINDS[finding.kind], finding.kind]
    return [*place, *counts, numbers, *hidden, finding.is_new]


def _sentence(finding: Finding, most: int) -> str:
    """Returns a finding in words, with what is found in at most so many of its rows."""
    each = ", ".join(f"{row} {what}" for row, what in list(finding.each.items())[:most])
    more = " ..." if len(finding.each) > most else ""
    said = ": ".join(part for part in (finding.detail, each + more) if part)
    return f"{LANGUAGES[finding.language].name} {finding.split}, {KINDS[finding.kind]}: {said}."
