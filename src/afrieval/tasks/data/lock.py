"""`data.lock`: the commit of each data set and the hashes of its files; and which paths task files may name."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from afrieval._util.errors import UserError
from afrieval._util.schema import CLOSED
from afrieval._util.terminal import shortened
from afrieval._util.whole_files import write_output
from afrieval._util.yaml_files import read_as
from afrieval.tasks.data.schema import (
    CONFIG,
    USUAL,
    DataSpec,
    JoinSpec,
    TranslateSpec,
    alternatives,
    conversion,
    fill,
    of_other,
    patterns_of,
)

# The hub's rule: letters, digits, - _ and . up to 96 of them, with neither - nor . at an end.
_NAME = r"(?=[\w.-]{1,96}(?:/|\Z))\w(?:[\w.-]*\w)?"
_REPOSITORY = re.compile(rf"{_NAME}/{_NAME}", re.ASCII)
# A root, a home, an address or a drive, and characters that no file of a data set has.
_OUTSIDE = re.compile(r"[/~]|[A-Za-z][\w+.-]*:|.*[\\\x00-\x1f\x7f]", re.DOTALL)

LONGEST = 255  # bytes of a file's name
OLD_CONVERTED = "parquet:"  # named the hub's conversion among the files


def check_sources(
    path: Path, data: DataSpec, translate: TranslateSpec | None, join: JoinSpec | None, languages: Mapping[str, str]
) -> None:
    """Refuses a task file whose paths leave the data sets' folders, or that counts rows of unknown splits."""
    for language, code in languages.items():
        check_inside(code, f"{path}: languages.{language}")
    _check_data(path, data, languages)
    for name, section in (("data", data), ("translate", translate), ("join", join)):
        if section is None:
            continue
        check_repository(section.hub, f"{path}: {name}.hub")
        check_inside(section.revision, f"{path}: {name}.revision")
        if not isinstance(section, DataSpec):
            _check_file(section.file, f"{path}: {name}.file", languages)
    for split, rows in (data.rows if isinstance(data.rows, dict) else {}).items():
        if isinstance(rows, dict) and (unknown := [code for code in rows if code not in languages]):
            raise UserError(f"{path}: data.rows.{split} has an unknown language {unknown[0]!r}", "correct it")
        if split not in data.files:
            raise UserError(f"{path}: data.rows has an unknown split {split!r}", f"it has: {', '.join(data.files)}")


def _check_data(path: Path, data: DataSpec, languages: Mapping[str, str]) -> None:
    for folder in data.folders:
        check_inside(folder, f"{path}: data.folders")
    for name, text in ((name, text) for name, texts in data.parts.items() for text in texts):
        check_inside(text, f"{path}: data.parts.{name}")
    for split, files in data.files.items():
        if not (alternatives(files) or conversion(files, split, data.converted)):
            raise UserError(f"{path}: data.files.{split} names no file", "name a file, or data.converted")
        for pattern in patterns_of(files):
            _check_file(pattern, f"{path}: data.files.{split}", languages)
    for split, part in data.converted.items():
        if split not in data.files:
            cure = f"it has: {', '.join(data.files)}"
            raise UserError(f"{path}: data.converted has an unknown split {split!r}", cure)
        if part is not None:
            hub, named = of_other(part, data.hub)
            check_repository(hub, f"{path}: data.converted.{split}")
            _check_file(named, f"{path}: data.converted.{split}", languages)
    check_inside(data.samples, f"{path}: data.samples", below=1)
    check_inside(data.defects, f"{path}: data.defects", below=1)


def check_repository(name: Any, where: str) -> None:
    """Refuses an invalid name of a dataset repository, by the hub's rule."""
    filled = name.replace("{evals}", "evals") if isinstance(name, str) else ""
    forbidden = "--" in filled or ".." in filled or filled.endswith(".git")
    if forbidden or not _REPOSITORY.fullmatch(filled):
        raise UserError(
            f"{where} is {name!r}, but must be ORG/NAME", "write it as on the hub, such as masakhane/afrimmlu"
        )


def check_inside(name: Any, where: str, below: int = 0) -> None:
    """Refuses what is not a relative path, or leaves its folder; links are not followed.

    Args:
        name: the path, a pattern of paths, or a part of one.
        where: file and key, for messages.
        below: how many levels above its folder are allowed.
    """
    hint = "write a path inside the folder, without .. or a leading /"
    if not isinstance(name, str) or not name.strip():
        raise UserError(f"{where} is {name!r}, but must be a path", hint)
    depth = below
    for part in name.split("/"):
        depth += {"..": -1, ".": 0, "": 0}.get(part, 1)
        if len(part.encode()) > LONGEST:
            raise UserError(f"{where} is {shortened(name)!r}, which no file can be named", "write a shorter path")
        if depth < 0 or (part == ".." and not below) or _OUTSIDE.match(name):
            raise UserError(f"{where} is {name!r}, which leaves its folder", hint)


def _check_file(file: str, where: str, languages: Mapping[str, str]) -> None:
    """Refuses a file outside its folder in any language; the name of a configuration is not a path."""
    if file.startswith(OLD_CONVERTED):
        cure = f"remove it; if it is not {USUAL}, name it in data.converted"
        raise UserError(f"{where} is {file!r}, but the hub's conversion is found without it", cure)
    for language, code in {"{language}": "{code}", **languages}.items():
        if not file.startswith(CONFIG):
            check_inside(fill(file, {"{code}": code, "{language}": language}), where)


LOCK = Path("data.lock")  # in the working folder, as other lock files
ANEW = "delete it, then write it again with `afrieval prefetch --lock`"
HEADER = "# Written by `afrieval prefetch --lock`; runs started in this folder use exactly these data.\n"


@dataclass(frozen=True)
class DataLock:
    """What is locked; empty without a lock file.

    Attributes:
        commits: dataset repository to commit.
        files: dataset repository to file in it to SHA-256.
    """

    commits: dict[str, str] = field(default_factory=dict)
    files: dict[str, dict[str, str]] = field(default_factory=dict)

    def check(self, repository: str, file: str, sha256: str) -> None:
        """Refuses a file that differs from the locked one; files that are not locked pass."""
        locked = self.files.get(repository, {}).get(file, sha256)
        if locked != sha256:
            raise UserError(
                f"{repository}, {file}: SHA-256 is {sha256[:12]}..., but {locked[:12]}... in {LOCK}",
                f"use the data that {LOCK} lists, or write it again with `afrieval prefetch --lock`",
            )


@dataclass(frozen=True)
class _Entry:
    __pydantic_config__ = CLOSED
    files: dict[str, str]
    commit: str | None = None


def read_lock(path: Path = LOCK) -> DataLock:
    """Returns the content of a lock file; an empty lock if there is none."""
    if not (path.exists() or path.is_symlink()):
        return DataLock()
    entries = read_as(dict[str, _Entry], path, ANEW)
    for repository, entry in entries.items():
        if entry.commit:
            check_inside(entry.commit, f"{path}, {repository}: commit")
    return DataLock(
        {name: entry.commit for name, entry in entries.items() if entry.commit},
        {name: entry.files for name, entry in entries.items()},
    )


def write_lock(additions: DataLock, path: Path = LOCK) -> None:
    """Adds what was found to a lock file; its other data sets stay."""
    old = read_lock(path)
    content: dict[str, Any] = {}
    for name in sorted({*old.files, *additions.files}):
        same = old.commits.get(name) == additions.commits.get(name, old.commits.get(name))
        files = {**(old.files.get(name, {}) if same else {}), **additions.files.get(name, {})}
        commit = additions.commits.get(name, old.commits.get(name))
        content[name] = {"commit": commit, "files": dict(sorted(files.items()))}
    write_output(path, (HEADER + yaml.safe_dump(content, sort_keys=False)).encode())
