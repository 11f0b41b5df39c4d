"""Finds and reads a benchmark's rows: on the hub, in a local mirror, or in the task's own samples."""

import csv
import hashlib
import io
import json
from pathlib import Path
from typing import Any, NamedTuple

from afrieval.errors import UserError
from afrieval.tasks.documents import Document, documents
from afrieval.tasks.hub import commit, fetch
from afrieval.tasks.lock import DataLock
from afrieval.tasks.spec import TaskSpec

HUB, SAMPLES = "hub", "samples"
UNLOCKED = DataLock()


class Split(NamedTuple):
    """The documents of one split in one language, the SHA-256 of the file they came from, and its commit on the hub."""

    documents: list[Document]
    sha256: str
    commit: str | None = None


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
    path = _find(spec, language, split, source, lock)
    if path is None:
        return None
    content = path.read_bytes()
    try:
        rows = _rows(path, content)
    except (ValueError, csv.Error, OSError) as e:
        raise UserError(
            f"{path} cannot be read: {' '.join(str(e).split())}", "check the file, or fetch it again"
        ) from None
    if source == SAMPLES:
        rows = [row for row in rows if row.get("split") == split]
    sha256 = hashlib.sha256(content).hexdigest()
    if source != SAMPLES:
        lock.check(spec.data.hub, hub_file(spec, language, split), sha256)
    where = f"{spec.name} {language} {split} ({path.name})"
    return Split(documents(spec, rows, where, split), sha256, commit(path) if source == HUB else None)


def hub_file(spec: TaskSpec, language: str, split: str) -> str:
    """Returns the path of a split's file below the dataset repository."""
    return spec.data.files[split].format(code=spec.languages[language])


def check_source(spec: TaskSpec, source: str) -> None:
    """Refuses a folder that does not hold the data set at all.

    Raises:
        UserError: naming the folder that was expected.
    """
    if source in (HUB, SAMPLES):
        return
    root = Path(source).expanduser()
    if not root.is_dir():
        raise UserError(
            f"data.source {source!r} is no folder",
            "give hub, samples, or a folder laid out ORG/NAME as on the hub",
        )
    if not (root / spec.data.hub).is_dir():
        raise UserError(
            f"the folder {source} does not hold {spec.data.hub}",
            f"put the data set's files in {root / spec.data.hub}, or give --data.source hub",
        )


def _find(spec: TaskSpec, language: str, split: str, source: str, lock: DataLock) -> Path | None:
    if source == SAMPLES:
        path = spec.folder / spec.data.samples / f"{language}.jsonl"
        if path.is_file() and spec.text_language:  # sample rows are translations of one another
            path = path.with_stem(spec.text_language)
    elif source == HUB:
        revision = lock.commits.get(spec.data.hub, spec.data.revision)
        return fetch(spec.data.hub, hub_file(spec, language, split), revision)
    else:
        path = Path(source).expanduser() / spec.data.hub / hub_file(spec, language, split)
    return path if path.is_file() else None


def _rows(path: Path, content: bytes) -> list[dict[str, Any]]:
    """Reads a table by its header; every value of a csv or tsv file stays the text it is."""
    if path.suffix == ".parquet":
        import pyarrow.parquet as pq

        table: list[dict[str, Any]] = pq.read_table(path).to_pylist()
        return table
    text = content.decode("utf-8-sig")
    if path.suffix in (".tsv", ".csv"):
        delimiter = "\t" if path.suffix == ".tsv" else ","
        reader = csv.DictReader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
        return list(reader)
    if path.suffix not in (".json", ".jsonl"):
        raise ValueError(f"{path.suffix} is no format that is read: tsv, csv, json, jsonl or parquet")
    return _json_rows(path, text)


def _json_rows(path: Path, text: str) -> list[dict[str, Any]]:
    if path.suffix == ".json":
        rows: list[dict[str, Any]] = json.loads(text)
        if not isinstance(rows, list):
            raise ValueError("it is no list of rows")
        return rows
    rows = []
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            rows.append(json.loads(line))
        except json.JSONDecodeError as e:
            raise UserError(f"{path}, line {number}, is not JSON: {e.msg}", "mend that line") from None
    return rows
