"""Unfinished files and folders that a killed process left next to the one that it was to write."""

import glob
import os
from collections.abc import Iterator
from pathlib import Path

import psutil


def unfinished(path: Path, kind: str = "") -> Path:
    """Returns where this process writes what is to take a path's place; its name begins with a dot.

    Args:
        path: a file or folder.
        kind: what sets it apart from others of the process, such as `.old`.
    """
    return path.with_name(f".{path.name}{kind}.{os.getpid()}")


def left_over(path: Path, kind: str = "") -> Iterator[Path]:
    """Yields what other processes, which have ended, wrote in a path's place; arguments are those of `unfinished`."""
    for found in path.parent.glob(f".{glob.escape(path.name)}{kind}.*"):
        number = found.name.rpartition(".")[2]
        if number.isdecimal() and not psutil.pid_exists(int(number)):
            yield found
