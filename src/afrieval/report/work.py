"""The table of what the visits to runs took: tokens, and at which rate."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from afrieval.report.table import Column, Table
from afrieval.results.files import RUN, read_run
from afrieval.results.work import VisitWork, works

COLUMNS = [
    Column("visit"),
    Column("requests for"),
    Column("requests", "amount"),
    Column("plain tokens", "amount", "plain_tokens"),
    Column("computed", "amount", "computed_tokens"),
    Column("in answers", "amount", "answer_tokens"),
    Column("seconds", "amount"),
    Column("tokens/s", "amount", "tokens_per_second"),
]
NOTES = [
    "Plain tokens are those that the harness computes, with the whole prompt for each choice.",
    "Computed tokens are those of the forward passes, padding and generated answers included.",
]


def work_tables(visits: Iterable[VisitWork]) -> list[Table]:
    """Returns what visits took, a row for each kind of request; empty if none is stored.

    Args:
        visits: in order.
    """
    rows = [_row(visit) for visit in visits]
    counted = any(row[3] or row[4] for row in rows)
    written = any(row[5] for row in rows)
    hidden = {} if counted else dict.fromkeys(("plain_tokens", "computed_tokens", "tokens_per_second"), "hidden")
    hidden |= {} if written else {"answer_tokens": "hidden"}
    columns = [column._replace(form=hidden.get(column.key, column.form)) for column in COLUMNS]
    return [Table("work", "What the run took", columns, rows, NOTES if counted else [])] if rows else []


def work_of(folder: Path) -> list[Table]:
    """Returns what the visits to a run folder took; empty for other programs' folders.

    Raises:
        UserError: if run.yaml cannot be read.
    """
    return work_tables(works(read_run(folder), folder)) if (folder / RUN).exists() else []


def _row(visit: VisitWork) -> list[Any]:
    taken = visit.taken
    computed, seconds = taken.get("computed"), taken["seconds"]
    rate = round(computed / seconds) if computed and seconds else None
    counts = [taken["requests"], taken.get("plain"), computed, taken.get("written")]
    return [visit.date[:16].replace("T", " "), visit.kind, *counts, round(seconds, 1), rate]
