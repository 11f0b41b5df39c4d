"""The run folder: what files it holds, written whole or not at all, and one process at a time."""

import contextlib
import csv
import errno
import io
import json
import os
import re
import urllib.parse
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, cast

import yaml
from filelock import FileLock, Timeout

from afrieval._util.errors import CURES, UserError
from afrieval._util.files import read_bytes
from afrieval._util.schema import validated_json
from afrieval._util.whole_files import write_whole
from afrieval._util.yaml_files import read_map_file
from afrieval.results.packed import PACKED, packed
from afrieval.results.samples import Sample
from afrieval.results.schema import HarnessRecord, RunRecord

RUN, RESULTS, SUMMARY, USAGE, LOCK = "run.yaml", "results.json", "summary.csv", "usage.csv", ".lock"
DERIVED = "derived.json"
ANSWERS = "answers_*.jsonl"
RESTORE = "restore the file from a copy, or run again with another --run_dir"
UNFINISHED = re.compile(
    r"\.(run\.yaml|(results|derived)\.json|(summary|usage)\.csv|(samples|harness|answers)_.+\.jsonl?|samples\.zip)"
    r"\.\d+"
)


@contextlib.contextmanager
def locked(folder: Path, patience: float = 0) -> Iterator[Callable[[], None]]:
    """Makes a folder and keeps other processes out of it; yields a check that nobody has removed or replaced it.

    What killed processes left half written is removed.

    Raises:
        UserError: if it cannot be written or another process uses it; when checked, if it is gone.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = FileLock(folder / LOCK)
        lock.acquire(timeout=patience)
        for path in folder.iterdir():
            if UNFINISHED.fullmatch(path.name):
                path.unlink(missing_ok=True)
        locked_file = (folder / LOCK).stat()
    except Timeout:
        raise UserError(
            f"the run folder {folder} is in use by another process",
            "wait for it; a run may also be given another --run_dir",
        ) from None
    except OSError as e:
        cure = CURES.get(e.errno or 0, "check the path")
        raise UserError(f"the run folder {folder} cannot be written: {e.strerror}", f"{cure} (--run_dir)") from None
    try:
        yield partial(_check_there, folder, locked_file)
    finally:
        lock.release()


def _check_there(folder: Path, locked_file: os.stat_result) -> None:
    """Refuses to go on in another folder than the one that was locked: what is written would be lost."""
    try:
        if os.path.samestat((folder / LOCK).stat(), locked_file):
            return
    except OSError as e:
        if e.errno not in (errno.ENOENT, errno.ENOTDIR, errno.ELOOP):
            raise
        if folder.is_dir():
            raise UserError(
                f"{folder / LOCK} was removed, which keeps other processes out of the run folder",
                "leave it there; the same command goes on from here",
            ) from None
    raise UserError(
        f"the run folder {folder} was removed or replaced during the run, and the answers in it with it",
        "restore the folder if you can, then repeat the command: it resumes from what is there",
    )


def write_atomically(path: Path, text: str) -> None:
    """Writes a file whole: a reader sees the old one or the new one."""
    write_whole(path, text.encode())


def sample_path(folder: Path, cell: str) -> Path:
    """Returns the sample file of a cell; a few names of harness tasks have signs that no file name has."""
    return folder / f"samples_{urllib.parse.quote(cell, safe='()')}.jsonl"


def stored_name(path: Path) -> str:
    """Returns the name of the cell that a sample file is of."""
    return urllib.parse.unquote(path.stem.removeprefix("samples_"))


def harness_path(folder: Path, cell: str) -> Path:
    """Returns the file with what the harness says of a task of its own."""
    return folder / f"harness_{urllib.parse.quote(cell, safe='()')}.json"


def write_json(path: Path, content: object, allow_nan: bool = True) -> None:
    """Writes results.json, derived.json, or the results of a harness task, which stand before its samples do."""
    text = json.dumps(content, indent=2, ensure_ascii=False, allow_nan=allow_nan)
    write_atomically(path, text + "\n")


def read_harness(folder: Path, cell: str) -> HarnessRecord:
    """Returns the results of a harness task."""
    path = harness_path(folder, cell)
    hint = f"delete {sample_path(folder, cell)} and run again; only this task is redone"
    record = validated_json(HarnessRecord, read_bytes(path, hint), str(path), hint)
    if record["task"] != cell:
        raise UserError(f"{path} is of the task {record['task']!r}", hint)
    return record


def write_samples(folder: Path, cell: str, samples: Iterable[Sample]) -> None:
    """Writes a cell's samples, one JSON object per line; floats read back equal."""
    encode = json.JSONEncoder(ensure_ascii=False).encode  # `json.dumps` makes an encoder for each line
    lines = [encode(s) for s in samples]
    write_atomically(sample_path(folder, cell), "\n".join(lines) + "\n")


def sample_files(folder: Path) -> list[Path]:
    """Returns the sample files of a run folder that are not packed, sorted by name."""
    return sorted(folder.glob("samples_*.jsonl"))


def cell_names(folder: Path) -> list[str]:
    """Returns the cells that a run folder has, packed or not, sorted by the names of their sample files."""
    archive = packed(folder)
    names = {path.name for path in sample_files(folder)}.union(archive.members if archive else ())
    return [stored_name(Path(name)) for name in sorted(names)]


def read_run(folder: Path, halfway: bool = False) -> RunRecord:
    """Returns what run.yaml says; an empty map if there is none yet.

    Args:
        folder: the run folder.
        halfway: whether the answers may have been scored again in part only.

    Raises:
        UserError: if it cannot be read, or there are samples and it is missing, or if some cells have new scores and
            others old ones.
    """
    path = folder / RUN
    if not os.path.lexists(path):
        if not sample_files(folder) and not os.path.lexists(folder / PACKED):
            return cast(RunRecord, {})
        raise UserError(f"{folder} has samples but no {RUN}, which says whose they are", RESTORE)
    content = read_map_file(path, RESTORE)
    content.checked(RunRecord, RESTORE)
    record = cast(RunRecord, content.content)  # as it is stored: JSON would make texts of keys that are numbers
    if is_halfway(record) and not halfway:
        problem = f"scoring {folder} again was stopped: some of its cells have new scores, others old ones"
        raise UserError(problem, f"finish it with afrieval score {folder}")
    return record


def is_halfway(record: RunRecord) -> bool:
    """Returns whether answers are being scored again, or this was stopped."""
    return not all(again["finished"] for again in record.get("rescored", []))


def write_run(folder: Path, content: Mapping[str, Any]) -> None:
    """Writes run.yaml."""
    options: dict[str, Any] = {"data": dict(content), "sort_keys": False, "allow_unicode": True, "width": 120}
    text: str = yaml.dump(
        **options, Dumper=getattr(yaml, "CSafeDumper", yaml.SafeDumper)
    )  # four times as fast as Python
    if "\\" in text:  # libyaml escapes more characters, such as emoji, and breaks such lines elsewhere
        text = yaml.dump(**options, Dumper=yaml.SafeDumper)
    write_atomically(folder / RUN, text)


def write_csv(path: Path, columns: Sequence[str], rows: Sequence[Mapping[str, Any]]) -> None:
    """Writes summary.csv or usage.csv."""
    text = io.StringIO()
    writer = csv.DictWriter(text, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    write_atomically(path, text.getvalue())
