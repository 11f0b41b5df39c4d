"""Locks of jobs: one worker at a time, and whether one is at work."""

import contextlib
from collections.abc import Iterator
from pathlib import Path

from filelock import FileLock, Timeout

from afrieval.results.files import LOCK

PATIENCE = 5.0  # seconds; somebody who looks whether a job runs holds its lock for a moment


@contextlib.contextmanager
def held(folder: Path, patience: float = PATIENCE) -> Iterator[bool]:
    """Holds the lock of a folder, which must exist; yields False if another process holds it.

    Args:
        folder: that of a job or of a sweep.
        patience: seconds to wait for it.
    """
    lock = FileLock(folder / LOCK)
    try:
        lock.acquire(timeout=patience)
    except Timeout:
        yield False
        return
    try:
        yield True
    finally:
        lock.release()


def is_held(folder: Path) -> bool:
    """Returns whether a process holds the lock of a folder."""
    if not (folder / LOCK).exists():
        return False
    with held(folder, patience=0) as free:
        return not free
