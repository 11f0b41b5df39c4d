"""File systems that fail: small ones that are full, and ones that can be written only once in a while."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


class Disk:
    """A file system in memory, at a folder.

    Attributes:
        path: the folder.
    """

    def __init__(self, path: Path):
        self.path = path

    def change(self, options: str) -> None:
        """Changes its options, such as `size=8k` or `ro`."""
        _mount("-o", f"remount,{options}", str(self.path))


@contextmanager
def disk(path: Path, options: str = "size=64m") -> Iterator[Disk]:
    """Mounts a file system on a new folder until the block ends; skips the test where that is not permitted."""
    path.mkdir()
    if os.geteuid() != 0 or not _mount("-t", "tmpfs", "-o", options, "none", str(path)):
        pytest.skip("mounting a file system is not permitted here")
    try:
        yield Disk(path)
    finally:
        subprocess.run(["umount", "--lazy", str(path)], check=True)


def _mount(*words: str) -> bool:
    return subprocess.run(["mount", *words], capture_output=True).returncode == 0
