"""All checks of a task's data."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from afrieval.data.lock import DataLock
from afrieval.quality.findings import Finding
from afrieval.quality.golds import other_golds
from afrieval.quality.groups import FEWEST, Group, groups
from afrieval.quality.order import out_of_order
from afrieval.quality.together import apart
from afrieval.tasks.known_defects import KnownDefect, known_defects, witness
from afrieval.tasks.spec import TaskSpec

Check = Callable[[Group], Iterator[Finding]]
CHECKS: Sequence[Check] = (out_of_order, apart, other_golds)


class Checked(NamedTuple):
    """What the checks of a task found, and a line for each check that could not be made."""

    findings: list[Finding]
    notes: list[str]


def check_data(spec: TaskSpec, source: str, lock: DataLock) -> Checked:
    """Returns what all checks find in a task's data.

    Args:
        spec: the task.
        source: `hub`, `samples`, or a folder with the hub's layout ORG/NAME.
        lock: hashes of the expected files.

    Raises:
        UserError: if the source is not usable, or a file is damaged.
    """
    known = known_defects(spec)
    found, notes = list[Finding](), list[str]()
    for group in groups(spec, source, lock):
        found += [_described(finding, group, known) for check in CHECKS for finding in check(group)]
        notes += _unchecked(group)
    return Checked(found, notes)


def _described(finding: Finding, group: Group, known: list[KnownDefect]) -> Finding:
    """Returns a finding with its witnesses, and the number of its rows that are known."""
    documents = {d.id: d for d in group.every(finding.language)}
    of_split = [k for k in known if (k.language, k.split) == (finding.language, finding.split)]
    rows = {row for k in of_split if k.whole or not finding.whole for row in k.found_in(list(documents.values()))}
    witnesses = [witness(documents[row]) for row in finding.rows]
    return replace(finding, n_known=len(rows.intersection(finding.rows)), witnesses=witnesses)


def _unchecked(group: Group) -> Iterator[str]:
    where = f"{group.split} of {' '.join(group.documents)}"
    if len(group.documents) < 2:
        yield f"{where} has no parallel rows, so their order is not checked"
    elif group.n < FEWEST:
        yield f"{where} has {group.n} rows, too few to check their order"
    if group.unpaired:
        yield f"{where}: too few rows to be paired in {' '.join(group.unpaired)}"
