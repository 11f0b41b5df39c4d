"""All checks of a task's data."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from afrieval.data.lock import DataLock
from afrieval.grouping import grouped
from afrieval.quality.characters import odd_characters
from afrieval.quality.copied import copied
from afrieval.quality.findings import Finding
from afrieval.quality.golds import other_golds
from afrieval.quality.groups import FEWEST, Group, groups
from afrieval.quality.identified import unidentified, unknown
from afrieval.quality.lengths import odd_lengths
from afrieval.quality.numbers import other_numbers
from afrieval.quality.order import out_of_order
from afrieval.quality.profiles import other_languages
from afrieval.quality.repeats import repeated
from afrieval.quality.together import apart
from afrieval.tasks.known_defects import KnownDefect, known_defects, witness
from afrieval.tasks.spec import TaskSpec

Check = Callable[[Group], Iterator[Finding]]
CHECKS: Sequence[Check] = (
    out_of_order,
    apart,
    other_golds,
    repeated,
    other_languages,
    unidentified,
    copied,
    odd_characters,
    other_numbers,
    odd_lengths,
)


class Checked(NamedTuple):
    """What the checks of a task found, a line for each check that could not be made, and the languages with data."""

    findings: list[Finding]
    notes: list[str]
    languages: set[str]


def check_data(spec: TaskSpec, source: str, lock: DataLock) -> Checked:
    """Returns what all checks find in a task's data, by split and language.

    Args:
        spec: the task.
        source: `hub`, `samples`, or a folder with the hub's layout ORG/NAME.
        lock: hashes of the expected files.

    Raises:
        UserError: if the source is not usable, or a file is damaged.
    """
    known = known_defects(spec)
    found, notes, languages = list[Finding](), list[str](), set[str]()
    by_split = grouped(groups(spec, source, lock), lambda group: group.split)
    for split in spec.data.files:
        of_split = by_split.get(split, [])
        of_groups = [f for group in of_split for check in CHECKS for f in _described(check(group), group, known)]
        found += sorted(of_groups, key=lambda finding: finding.language)
        with_data = {code for group in of_split for code in (*group.documents, *group.unpaired)}
        if absent := [code for code in spec.languages if code not in with_data]:
            notes.append(f"{split}: no rows for {' '.join(absent)}")
        notes += _unchecked(split, of_split)
        languages |= with_data
    return Checked(found, notes, languages)


def _described(found: Iterable[Finding], group: Group, known: list[KnownDefect]) -> Iterator[Finding]:
    """Yields findings with their witnesses, and the number of their rows that are known."""
    for finding in found:
        documents = {d.id: d for d in group.as_read[finding.language]}
        of_split = [k for k in known if (k.language, k.split) == (finding.language, finding.split)]
        rows = {row for k in of_split if k.whole or not finding.whole for row in k.found_in([*documents.values()])}
        witnesses = [witness(documents[row]) for row in finding.rows]
        yield replace(finding, n_known=len(rows.intersection(finding.rows)), witnesses=witnesses)


def _unchecked(split: str, found: list[Group]) -> Iterator[str]:
    """Yields a line for what could not be checked in a split."""
    alone = [code for group in found if len(group.documents) < 2 for code in group.documents]
    if alone:
        yield f"{split}: not compared with other languages, which have no parallel rows: {' '.join(alone)}"
    for group in found:
        if len(group.documents) > 1 and group.n < FEWEST:
            yield f"{split}: {group.n} rows are too few to check their order"
        if len(group.documents) == 2:
            pair = " and ".join(group.documents)
            yield f"{split}: {pair} are compared with each other alone, which does not show which of them is wrong"
        if group.unpaired:
            yield f"{split}: not compared with other languages, since rows are missing: {' '.join(group.unpaired)}"
    if unidentified_codes := sorted({code for group in found for code in unknown(group)}):
        yield f"{split}: py3langid does not know {' '.join(unidentified_codes)}"
