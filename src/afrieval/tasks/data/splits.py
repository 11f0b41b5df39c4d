"""Loads the documents of a split from the hub, a local folder or the task's samples."""

import hashlib
import json
import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from afrieval._util.errors import UserError
from afrieval._util.files import read_bytes, user_path
from afrieval._util.stamps import WHOLE, digest
from afrieval._util.tables import DEFECT, Row, parallel_rows, read_rows
from afrieval.tasks.data.complete_rows import joined, recorded_documents
from afrieval.tasks.data.document import Document
from afrieval.tasks.data.documents import check_columns, documents
from afrieval.tasks.data.files import HUB, SAMPLES, DataFile, SplitFiles, data_files, expected, repositories
from afrieval.tasks.data.hub import commit
from afrieval.tasks.data.lock import DataLock
from afrieval.tasks.data.schema import conversion, fill, filled
from afrieval.tasks.declaration.known_facts import marked
from afrieval.tasks.declaration.schema import WITH_COLUMNS, AnswerSpec, column_names
from afrieval.tasks.declaration.spec import TaskSpec

log = logging.getLogger("afrieval")


def in_language(spec: TaskSpec, language: str) -> TaskSpec:
    """Returns a task with the names of its columns in a language: `{code}` and `{language}` are filled in."""
    values = placeholders(spec, language)
    keys = {key: filled(getattr(spec, key), values) for key in WITH_COLUMNS}
    if isinstance(spec.answer, AnswerSpec):
        keys["answer"] = replace(spec.answer, field=filled(spec.answer.field, values))
    return replace(spec, evaluated=language, **keys)


def placeholders(spec: TaskSpec, language: str) -> dict[str, str]:
    """Returns what the placeholders of a task file stand for in a language."""
    return {"{code}": spec.languages.get(language, language), "{language}": language}


def with_columns(spec: TaskSpec, rows: Sequence[Row]) -> list[Row]:
    """Returns rows that have the task's columns under the names that the task file gives them.

    A dotted name such as `translation.en` is a path into nested maps, unless a column has this name. A field with
    several columns takes the first that a row has, under the name of the first.
    """
    paths = [column for key in WITH_COLUMNS for column in column_names(getattr(spec, key)) if "." in column]
    several = [columns for columns in spec.fields.values() if isinstance(columns, list)]

    def completed(row: Row) -> Row:
        for path in paths:
            if path not in row and (values := at_path(row, path)):
                row = row | {path: values[0]}
        candidates = [(columns[0], [column for column in columns if column in row]) for columns in several]
        return row | {name: row[present[0]] for name, present in candidates if present}

    return list(map(completed, rows)) if paths or several else list(rows)


def at_path(row: Row, path: str) -> list[Any]:
    """Returns a list with the value at a path, None if a map on the way is null, as in Parquet; empty without one."""
    value: Any = row
    for step in path.split("."):
        if value is None:
            break
        if not isinstance(value, dict) or step not in value:
            return []
        value = value[step]
    return [value]


UNLOCKED = DataLock()
SHOWN = 5  # rows that a line names
DOWNLOAD = "download it again"
CURE = "delete the file and fetch it again, or correct data.rows in the task file"


class Split(NamedTuple):
    """The documents of a split in a language, a SHA-256, and data set to commit if from the hub.

    The SHA-256 is of the file, or of prompts and answers if rows have complete prompts.
    `unparsed` are the rows that could not be parsed; `note` is a line about them, or empty.
    `excerpt` is the data set's number of rows, if this is a small part of it. `defect` is a known
    defect of all rows, or empty.
    """

    documents: list[Document]
    sha256: str
    commits: dict[str, str]
    unparsed: frozenset[int] = frozenset()
    note: str = ""
    excerpt: int | None = None
    defect: str = ""


def load_split(spec: TaskSpec, language: str, split: str, source: str, lock: DataLock = UNLOCKED) -> Split | None:
    """Returns a split's documents, or None if the source lacks this language.

    Args:
        spec: the task.
        language: the suite's code.
        split: one of the task's splits.
        source: `hub`, `samples`, or a folder with the hub's layout ORG/NAME.
        lock: hashes of the expected files.

    Raises:
        UserError: if the source is not usable, or the file is damaged or differs from the lock.
    """
    source = source_of(spec, source)
    table, *others = [_table(spec, language, of, source, lock) for of in wanted_files(spec, language, split)]
    if table is None:
        return None
    rows, sha256, name, commits = table
    where = f"{spec.name} {language} {split} ({name})"
    rows = _chosen(spec, language, rows, where)
    log.debug("data: %d rows of %s, from %s", len(rows), where, source)
    expected = spec.data.rows_of(split, language) if source != SAMPLES else None
    # So small a part is deliberate rather than damaged: a run prints a note and continues.
    excerpt = source != HUB and expected is not None and 2 * len(rows) < expected and not spec.prompt
    if expected is not None and not excerpt:
        check_count(len(rows), expected, where)
    unparsed = [number for number, row in enumerate(rows) if DEFECT in row]
    shown = "; ".join(f"row {number}: {rows[number][DEFECT]}" for number in unparsed[:SHOWN])
    shown += " ..." if len(unparsed) > SHOWN else ""
    note = f"{spec.name} {language} {split}: {len(unparsed)} of {len(rows)} rows cannot be parsed ({shown})"
    note = note if unparsed else ""
    if spec.join:
        if (other := others[0]) is None:
            raise UserError(
                f"{shown_source(source)} has no {spec.join.split} rows of {spec.join.hub}",
                where_from(spec, language, split, source),
            )
        other_rows, _, other_name, other_commits = other
        if spec.join.rows and source != SAMPLES:
            check_count(len(other_rows), spec.join.rows, f"{spec.join.hub} ({other_name})")
        rows, commits = joined(rows, other_rows, spec.join, where), commits | other_commits
    for column, mark in spec.data.cut.items():
        rows = [row | {column: str(row[column]).partition(mark)[0]} if column in row else row for row in rows]
    of_language = in_language(spec, language)
    rows = with_columns(of_language, rows)
    if spec.prompt:
        split_documents = recorded_documents(of_language, rows, where)
        # The hash is the same for the data sets of all model sizes.
        questions = json.dumps([[d.id, d.prompt, d.choices, d.gold_cell] for d in split_documents])
        return Split(split_documents, digest(questions, WHOLE), commits, frozenset(unparsed), note)
    split_documents, whole = marked(spec, language, split, documents(of_language, rows, where, split))
    return Split(split_documents, sha256, commits, frozenset(unparsed), note, expected if excerpt else None, whole)


def _chosen(spec: TaskSpec, language: str, rows: list[Row], where: str) -> list[Row]:
    """Returns the rows that `data.where` describes, and of these the first of each question of `data.once`."""
    conditions, once = filled(spec.data.where, placeholders(spec, language)), spec.data.once
    maps: list[dict[str, str | list[str]]] = conditions if isinstance(conditions, list) else [conditions]
    if columns := [*dict.fromkeys([*(column for each in maps for column in each), *once])]:
        check_columns(columns, rows, spec.name, where)

    def begins(row: Row, texts: Mapping[str, str | list[str]]) -> bool:
        allowed = {column: (text,) if isinstance(text, str) else tuple(text) for column, text in texts.items()}
        return all(str(row[column]).startswith(beginnings) for column, beginnings in allowed.items())

    rows = next(filter(None, ([row for row in rows if begins(row, each)] for each in maps)), [])
    if not once:
        return rows
    firsts: dict[tuple[str, ...], Row] = {}
    for row in rows:
        firsts.setdefault(tuple(str(row[column]) for column in once), row)
    return [*firsts.values()]


def source_of(spec: TaskSpec, source: str) -> str:
    """Returns where the rows of a task are: in its own folder if it has some there, unless samples are asked for."""
    return str(spec.own_data) if spec.own_data and source != SAMPLES else source


def shown_source(source: str) -> str:
    """Returns a source as messages name it: a folder, or the option that asks for the suite's own rows."""
    return f"--data.source {source}" if source in (HUB, SAMPLES) else source


def wanted_files(spec: TaskSpec, language: str, split: str) -> list[SplitFiles]:
    """Returns the files of a split, and those that are joined to it."""
    data, join, values = spec.data, spec.join, placeholders(spec, language)
    folders = [*data.folders, *(["."] if spec.own_data else [])]
    split_files = [
        SplitFiles(data.hub, data.revision, data.files[split], split, data.columns, data.parts, folders),
        *([SplitFiles(join.hub, join.revision, join.file, join.split)] if join else []),
    ]
    parts = [conversion(of.files, of.split, data.converted if of is split_files[0] else {}) for of in split_files]
    return [
        of._replace(files=filled(of.files, values), converted=None if part is None else fill(part, values))
        for of, part in zip(split_files, parts, strict=True)
    ]


def has_split(spec: TaskSpec, language: str, split: str, source: str, lock: DataLock = UNLOCKED) -> bool:
    """Returns whether the hub or a folder has the files of a split in a language; arguments as for `load_split`."""
    source = source_of(spec, source)
    return all(data_files(wanted, source, lock) for wanted in wanted_files(spec, language, split))


def check_count(rows: int, expected: int, where: str) -> None:
    """Rejects a truncated table or another edition, whose scores would not be comparable."""
    if rows != expected:
        raise UserError(f"{where} has {rows} rows instead of {expected}", CURE)


def check_source(spec: TaskSpec, source: str) -> None:
    """Rejects a folder that does not contain the data set."""
    source = source_of(spec, source)
    if missing := missing_files(spec, source):
        cure = f"put {expected(missing)} into {source}, and so for each split and language; or give --data.source hub"
        raise UserError(f"the folder {source} does not contain {missing.repository}", cure)


def where_from(spec: TaskSpec, language: str, split: str, source: str) -> str:
    """Returns how to get rows that a source lacks: which files a folder may have them in."""
    source = source_of(spec, source)
    if source in (HUB, SAMPLES):
        return "name another --data.source"
    split_files = wanted_files(spec, language, split)
    lacking = next((of for of in split_files if not data_files(of, source, UNLOCKED)), split_files[0])
    return f"put {expected(lacking)} into {source}, or name another --data.source"


def missing_files(spec: TaskSpec, source: str) -> SplitFiles | None:
    """Returns files of a data set that a source does not contain; None for the hub, which is asked later."""
    source = source_of(spec, source)
    if source in (HUB, SAMPLES):
        return None
    root = check_folder(source)
    for split_files in wanted_files(spec, next(iter(spec.languages)), spec.data.evaluate):
        folders = repositories(split_files)
        named = any((root / folder).is_dir() for folder in folders if folder != ".")
        if not named and not ("." in folders and data_files(split_files, source, UNLOCKED)):
            return split_files
    return None


def check_folder(source: str) -> Path:
    """Returns a data source's folder.

    Raises:
        UserError: if it does not exist.
    """
    root = user_path(source)
    if not root.is_dir():
        raise UserError(
            f"data.source must be hub, samples or a folder, not {source!r}",
            "give a folder with the hub's layout, ORG/NAME",
        )
    return root


def _table(
    spec: TaskSpec, language: str, split_files: SplitFiles, source: str, lock: DataLock
) -> tuple[list[Row], str, str, dict[str, str]] | None:
    """Returns the rows of a table, its hash, its name for messages, and its repository to its commit."""
    if source == SAMPLES:
        path = spec.samples_folder / f"{language}.jsonl"
        if path.is_file() and spec.text_language:  # sample rows are translations of one another
            path = path.with_stem(spec.text_language)
        files = [DataFile("", path.name, path)] if path.is_file() else []
    else:
        files = data_files(split_files, source, lock)
    if not files:
        return None
    contents = [read_bytes(file.path, DOWNLOAD) for file in files]
    hashes = [hashlib.sha256(content).hexdigest() for content in contents]
    if source != SAMPLES:
        for file, sha256 in zip(files, hashes, strict=True):
            lock.check(file.repository, file.name, sha256)
    if files[0].column:  # parallel texts, each of which is a column
        rows = parallel_rows({f.column: (f.path, content) for f, content in zip(files, contents, strict=True)})
    else:
        pairs = zip(files, contents, strict=True)
        tables = ((file.part, read_rows(file.path, content, split_files.columns)) for file, content in pairs)
        rows = [{**row, **part} for part, table in tables for row in table]
    if source == SAMPLES:
        rows = [row for row in rows if row.get("split") == split_files.split]
        if not rows:
            return None
    sha256 = hashes[0] if len(hashes) == 1 else digest("".join(hashes), WHOLE)
    first, last = files[0], files[-1]
    name = f"{len(files)} files, {first.path.name} to {last.path.name}" if first.part else first.path.name
    revision = commit(first.path) if source == HUB else None
    return rows, sha256, name, {first.repository: revision} if revision else {}


def check_fetched(spec: TaskSpec, lock: DataLock) -> list[str]:
    """Loads rows with complete prompts as a run does, and returns lines on those not scored.

    Raises:
        UserError: if rows are missing or invalid.
    """
    lines = []
    for language in spec.languages if spec.prompt else ():
        if split := load_split(spec, language, spec.data.evaluate, HUB, lock):
            unscored = [d for d in split.documents if d.gold is None]
            lines.append(f"{spec.name}: {len(split.documents)} rows, of which {len(unscored)} cannot be scored")
            lines += [f"  row {d.id}: {d.defect}" for d in unscored]
    return lines
