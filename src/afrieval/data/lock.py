"""`data.lock`: the commit of each data set, and the hashes of its files."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from afrieval.data.sources import check_inside
from afrieval.errors import UserError
from afrieval.files.schema import CLOSED
from afrieval.files.whole import write_output
from afrieval.files.yaml import read_as

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
        """Refuses a file that differs from the locked one; files that are not locked pass.

        Raises:
            UserError: naming it.
        """
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
    """Returns the content of a lock file; an empty lock if there is none.

    Raises:
        UserError: if it is invalid.
    """
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


def write_lock(found: DataLock, path: Path = LOCK) -> None:
    """Adds what was found to a lock file; its other data sets stay."""
    old = read_lock(path)
    content: dict[str, Any] = {}
    for name in sorted({*old.files, *found.files}):
        same = old.commits.get(name) == found.commits.get(name, old.commits.get(name))
        files = {**(old.files.get(name, {}) if same else {}), **found.files.get(name, {})}
        commit = found.commits.get(name, old.commits.get(name))
        content[name] = {"commit": commit, "files": dict(sorted(files.items()))}
    write_output(path, (HEADER + yaml.safe_dump(content, sort_keys=False)).encode())
