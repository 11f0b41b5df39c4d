"""A hub that answers from a folder, in the place of the hub's client.

The folder of a repository's branch other than main is that of the repository, followed by @ and the branch.
"""

from pathlib import Path
from typing import Any

import httpx2 as httpx
import pytest
from huggingface_hub.errors import LocalEntryNotFoundError, RemoteEntryNotFoundError

from tests.tasks.data.test_splits import row, write_tsv

NOT_CACHED = LocalEntryNotFoundError("not in the cache")


class FakeHub:
    """Stands in for the hub's client: a remote folder and a cache folder."""

    def __init__(self, root: Path):
        self.remote, self.cache = root / "remote", root / "cache"
        self.calls: list[str] = []
        self.commit = "c0ffee"
        self.error: Exception | None = None
        self.absent: set[Path] = set()  # what the remote was seen not to have, as the client's cache remembers

    def download(self, repository: str, file: str, revision: str, local_files_only: bool) -> Path:
        cached, there = self._snapshot(repository, revision) / file, self._remote(repository, revision) / file
        if cached.exists():
            return cached
        if local_files_only:
            raise RemoteEntryNotFoundError("404", response=response(404)) if cached in self.absent else NOT_CACHED
        self.calls.append(file)
        if self.error is not None:
            raise self.error
        if not there.exists():
            self.absent.add(cached)
            raise RemoteEntryNotFoundError("404", response=response(404))
        cached.parent.mkdir(parents=True, exist_ok=True)
        cached.write_bytes(there.read_bytes())
        return cached

    def download_all(self, repository: str, patterns: list[str], revision: str, local_files_only: bool) -> Path:
        folder = self._snapshot(repository, revision)
        if local_files_only:
            if not folder.exists():
                raise NOT_CACHED
            return folder
        self.calls.append("listing")
        if self.error is not None:
            raise self.error
        remote = self._remote(repository, revision)
        for path in sorted(path for pattern in patterns for path in remote.glob(pattern)):
            self.download(repository, path.relative_to(remote).as_posix(), revision, local_files_only=False)
        folder.mkdir(parents=True, exist_ok=True)
        return folder

    def _remote(self, repository: str, revision: str) -> Path:
        branch = revision if revision.startswith("refs/") else ""
        return self.remote / (f"{repository}@{branch}" if branch else repository)

    def _snapshot(self, repository: str, revision: str) -> Path:
        """A branch has a commit of its own, which the name of the folder says."""
        snapshot = {"main": self.commit}.get(revision, revision.replace("/", "-"))
        return self.cache / repository / "snapshots" / snapshot


def response(status: int) -> Any:
    return httpx.Response(status, request=httpx.Request("GET", "http://hub.test/x"))


def fake_hub(root: Path, monkeypatch: pytest.MonkeyPatch) -> FakeHub:
    """Puts a hub in the place of the client that has AfriMMLU in Yoruba."""
    fake = FakeHub(root)
    for split in ("test", "val", "dev"):
        write_tsv(fake.remote, "yor", split, [row(i) for i in range(5)])
    for name in ("download", "download_all"):
        monkeypatch.setattr(f"afrieval.tasks.data.hub.{name}", getattr(fake, name))
    return fake
