"""A benchmark's rows, from the hub, a local mirror or the task's own samples, to documents."""

import hashlib
import json
from pathlib import Path
from typing import NamedTuple

from afrieval.data.files import HUB, SAMPLES, DataFile, Wanted, data_files
from afrieval.data.hub import commit
from afrieval.data.join import joined
from afrieval.data.lock import DataLock
from afrieval.data.tables import DEFECT, Row, read_rows
from afrieval.errors import UserError
from afrieval.files.paths import user_path
from afrieval.tasks.complete_prompts import recorded_documents
from afrieval.tasks.documents import Document, documents
from afrieval.tasks.spec import TaskSpec

UNLOCKED = DataLock()
SHOWN = 5  # rows that a line names
CURE = "delete the file and fetch it again; data.rows of the task file says how many there are"


class Split(NamedTuple):
    """The documents of one split in one language, a SHA-256, and data set to its commit, where it came from the hub.

    The SHA-256 is the file's, or where rows bring their prompts, that of prompts and answers. `unparsed` are the rows
    that could not be parsed, and `note` says so in one line; it is empty if there are none. `excerpt` is how many rows
    the data set has, where this is a small part of it.
    """

    documents: list[Document]
    sha256: str
    commits: dict[str, str]
    unparsed: frozenset[int] = frozenset()
    note: str = ""
    excerpt: int | None = None


class _Table(NamedTuple):
    rows: list[Row]
    sha256: str
    name: str
    commit: str | None


def load_split(spec: TaskSpec, language: str, split: str, source: str, lock: DataLock = UNLOCKED) -> Split | None:
    """Returns a split's documents, or None where the source lacks this language.

    Args:
        spec: the task.
        language: the suite's code.
        split: one of the task's splits.
        source: `hub`, `samples`, or a folder laid out ORG/NAME as on the hub.
        lock: which files are meant.

    Raises:
        UserError: if the source cannot be used, the file cannot be read or is not the one that was locked.
    """
    wanted = [_table(spec, language, of, source, lock) for of in wanted_files(spec, language, split)]
    table = wanted[0]
    if table is None:
        return None
    where = f"{spec.name} {language} {split} ({table.name})"
    hubs = (spec.data.hub, spec.join.hub if spec.join else "")
    commits = {hub: of.commit for hub, of in zip(hubs, wanted, strict=False) if of and of.commit}
    rows = table.rows
    expected = spec.data.rows_of(split) if source != SAMPLES else None
    excerpt = source != HUB and is_excerpt(len(rows), expected) and not spec.prompt
    if expected is not None and not excerpt:
        check_count(len(rows), expected, where)
    unparsed = {number: row[DEFECT] for number, row in enumerate(rows) if DEFECT in row}
    note = _note(unparsed, len(rows), f"{spec.name} {language} {split}")
    if spec.join:
        other = wanted[1]
        if other is None:
            raise UserError(f"{source} has no {spec.join.split} rows of {spec.join.hub}", "name another --data.source")
        if spec.join.rows and source != SAMPLES:
            check_count(len(other.rows), spec.join.rows, f"{spec.join.hub} ({other.name})")
        rows = joined(rows, other.rows, spec.join, where)
    if spec.prompt:
        found = recorded_documents(spec, rows, where)
        return Split(found, _hash_of_questions(found), commits, frozenset(unparsed), note)
    known = expected if excerpt else None
    return Split(documents(spec, rows, where, split), table.sha256, commits, frozenset(unparsed), note, known)


def _note(unparsed: dict[int, str], rows: int, where: str) -> str:
    shown = "; ".join(f"row {number}: {why}" for number, why in list(unparsed.items())[:SHOWN])
    more = " ..." if len(unparsed) > SHOWN else ""
    return f"{where}: {len(unparsed)} of {rows} rows cannot be parsed ({shown}{more})" if unparsed else ""


def wanted_files(spec: TaskSpec, language: str, split: str) -> list[Wanted]:
    """Returns where the rows of a split are, and where those are that they are completed from."""
    file = spec.data.files[split].replace("{code}", spec.languages[language])
    wanted = [Wanted(spec.data.hub, spec.data.revision, file, split)]
    return wanted + ([Wanted(spec.join.hub, spec.join.revision, spec.join.file, spec.join.split)] if spec.join else [])


def is_excerpt(rows: int, expected: int | None) -> bool:
    """Tells a table that somebody cut down on purpose, to try things out, from one that is damaged.

    It has less than half of the rows; a run says so, and goes on.
    """
    return expected is not None and 2 * rows < expected


def check_count(rows: int, expected: int, where: str) -> None:
    """Refuses a table that is cut short or of another edition: its scores would be compared with those of the whole.

    Raises:
        UserError: naming both numbers.
    """
    if rows != expected:
        raise UserError(f"{where} has {rows} rows, and should have {expected}", CURE)


def check_source(spec: TaskSpec, source: str) -> None:
    """Refuses a folder that does not hold the data set at all.

    Raises:
        UserError: naming the folder that was expected.
    """
    if source in (HUB, SAMPLES):
        return
    root = check_folder(source)
    for hub in (spec.data.hub, *([spec.join.hub] if spec.join else [])):
        if not (root / hub).is_dir():
            raise UserError(
                f"the folder {source} does not hold {hub}",
                f"put the data set's files in {root / hub}, or give --data.source hub",
            )


def check_folder(source: str) -> Path:
    """Returns the folder that a data source names.

    Raises:
        UserError: if there is none.
    """
    root = user_path(source)
    if not root.is_dir():
        raise UserError(
            f"data.source {source!r} is no folder",
            "give hub, samples, or a folder laid out ORG/NAME as on the hub",
        )
    return root


def _table(spec: TaskSpec, language: str, wanted: Wanted, source: str, lock: DataLock) -> _Table | None:
    files = _samples(spec, language) if source == SAMPLES else data_files(wanted, source, lock)
    if not files:
        return None
    rows: list[Row] = []
    hashes = []
    for file in files:
        content = file.path.read_bytes()
        hashes.append(hashlib.sha256(content).hexdigest())
        if source != SAMPLES:
            lock.check(file.repository, file.name, hashes[-1])
        rows += read_rows(file.path, content)
    if source == SAMPLES:
        rows = [row for row in rows if row.get("split") == wanted.split]
    sha256 = hashes[0] if len(hashes) == 1 else hashlib.sha256("".join(hashes).encode()).hexdigest()
    return _Table(rows, sha256, files[0].path.name, commit(files[0].path) if source == HUB else None)


def _samples(spec: TaskSpec, language: str) -> list[DataFile]:
    path = spec.folder / spec.data.samples / f"{language}.jsonl"
    if path.is_file() and spec.text_language:  # sample rows are translations of one another
        path = path.with_stem(spec.text_language)
    return [DataFile("", path.name, path)] if path.is_file() else []


def _hash_of_questions(found: list[Document]) -> str:
    """Returns a hash of what is asked and what is right, which data sets of models of other sizes have in common."""
    parts = [[d.id, d.prompt, d.choices, d.gold_cell] for d in found]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()
