"""All checks of a task's data, and what they found as a table."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

from afrieval._util.errors import UserError
from afrieval._util.terminal import note
from afrieval.languages import LANGUAGES
from afrieval.report.columns import Column
from afrieval.report.table import Table
from afrieval.scoring.identified_language import RELIABLE
from afrieval.tasks.data.lock import DataLock
from afrieval.tasks.declaration.known_facts import KnownDefect, known_defects, witness
from afrieval.tasks.declaration.spec import TaskSpec
from afrieval.tools.data_checks.groups import DEFECTS, FEWEST, KINDS, NOTICES, Finding, Group, groups
from afrieval.tools.data_checks.language_checks import misidentified_languages, rows_in_other_languages
from afrieval.tools.data_checks.pairing import out_of_order
from afrieval.tools.data_checks.rows import (
    differing_golds,
    differing_numbers,
    odd_characters,
    odd_lengths,
    repeated_texts,
    unasked_words,
    unrelated_columns,
    untranslated_rows,
)

Check = Callable[[Group], Iterator[Finding]]
CHECKS: Sequence[Check] = (
    out_of_order,
    unrelated_columns,
    differing_golds,
    repeated_texts,
    unasked_words,
    rows_in_other_languages,
    misidentified_languages,
    untranslated_rows,
    odd_characters,
    differing_numbers,
    odd_lengths,
)


def check_data(spec: TaskSpec, source: str, lock: DataLock, demanded: Iterable[str] = ()) -> list[Finding]:
    """Returns what all checks find in a task's data, by split and language, and says which checks could not be made.

    Raises:
        UserError: if the source is not usable or lacks a language that is demanded, or a file is damaged.
    """
    defects = known_defects(spec)
    findings, notes, languages = list[Finding](), list[str](), set[str]()
    for split in spec.data.files:
        of_split = [*groups(spec, split, source, lock)]
        of_groups = [f for group in of_split for check in CHECKS for f in _with_witnesses(check(group), group, defects)]
        findings += sorted(of_groups, key=lambda finding: finding.language)
        with_data = {code for group in of_split for code in (*group.documents, *group.unpaired)}
        if absent := [code for code in spec.languages if code not in with_data]:
            notes.append(f"{split}: no rows for {' '.join(absent)}")
        notes += _skipped_checks(split, of_split)
        languages |= with_data
    for code in set(demanded) - languages:
        problem = f"{source} has no rows of {spec.name} for {code}"
        raise UserError(problem, f"remove {code} from task.languages, or name another --data.source")
    for line in notes:
        note(f"{spec.name}: {line}")
    return findings


def _with_witnesses(findings: Iterable[Finding], group: Group, defects: list[KnownDefect]) -> Iterator[Finding]:
    """Yields findings with their witnesses, and the number of their rows that are known."""
    for finding in findings:
        documents = {d.id: d for d in group.as_read[finding.language]}
        of_split = [k for k in defects if (k.language, k.split) == (finding.language, finding.split)]
        rows = {row for k in of_split if k.whole or not finding.whole for row in k.found_in([*documents.values()])}
        witnesses = [witness(documents[row]) for row in finding.rows]
        yield replace(finding, n_known=len(rows.intersection(finding.rows)), witnesses=witnesses)


def _skipped_checks(split: str, split_groups: list[Group]) -> Iterator[str]:
    alone = [code for group in split_groups if len(group.documents) < 2 for code in group.documents]
    if alone:
        yield f"{split}: not compared with other languages, which have no parallel rows: {' '.join(alone)}"
    for group in split_groups:
        if len(group.documents) > 1 and group.n < FEWEST:
            yield f"{split}: {group.n} rows are too few to check their order"
        if len(group.documents) == 2:
            pair = " and ".join(group.documents)
            yield f"{split}: {pair} are compared with each other alone, which does not show which of them is wrong"
        if group.unpaired:
            yield f"{split}: not compared with other languages, since rows are missing: {' '.join(group.unpaired)}"
    if codes := sorted({code for group in split_groups for code in group.documents if code not in RELIABLE}):
        yield f"{split}: py3langid does not know {' '.join(codes)}"


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


def finding_table(task: str, findings: list[Finding], rows: int) -> Table:
    """Returns a row per finding, defects first.

    `rows` is the maximum number of row numbers to show for each.
    """
    ordered, records = sorted(findings, key=lambda finding: finding.kind in NOTICES), []
    for finding in ordered:
        n, kind = len(finding.rows), finding.kind
        numbers = " ".join(map(str, finding.rows[:rows])) + (" ..." if n > rows else "")
        about = [finding.split, finding.language, KINDS[kind], kind, n, finding.n_known]
        hidden = [[*finding.rows], [*finding.witnesses], _sentence(finding, n), finding.whole, finding.is_new]
        records.append([*about, "all" if finding.whole else numbers, *hidden])
    n_defects = sum(finding.kind in DEFECTS for finding in findings)
    return Table(
        kind="findings",
        title=f"{task}: {'findings in its data' if findings else 'nothing found in its data'}",
        columns=COLUMNS if findings else [],
        rows=records,
        notes=[NOTE] if findings else [],
        findings=[
            _sentence(finding, rows) for finding in ordered if finding.is_new and (finding.detail or finding.each)
        ],
        about={"task": task},
        ends={n_defects - 1} if 0 < n_defects < len(findings) else (),
    )


def _sentence(finding: Finding, most: int) -> str:
    """Returns a finding in words, with what is found in at most so many of its rows."""
    each = ", ".join(f"{row} {what}" for row, what in list(finding.each.items())[:most])
    more = " ..." if len(finding.each) > most else ""
    text = ": ".join(part for part in (finding.detail, each + more) if part)
    return f"{LANGUAGES[finding.language].name} {finding.split}, {KINDS[finding.kind]}: {text}."
