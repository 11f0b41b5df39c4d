"""Writes files whole: a reader sees the old content or the new one, whatever happens in between."""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from afrieval.errors import CURES, UserError
from afrieval.files.leftovers import left_over, unfinished


def write_whole(path: Path, content: bytes) -> None:
    """Writes a file; its folder must exist.

    Args:
        path: the file, which may exist.
        content: all of its bytes.
    """
    with written_whole(path) as file:
        file.write(content)


@contextlib.contextmanager
def written_whole(path: Path) -> Iterator[BinaryIO]:
    """Opens a file for writing; it appears under its name once all is written, and not at all after an error.

    Args:
        path: the file, which may exist; its folder must.
    """
    begun = unfinished(path)
    try:
        with begun.open("wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        begun.replace(path)
    except OSError as e:
        e.filename = str(path)  # not that of the unfinished file, or none
        raise
    finally:
        with contextlib.suppress(OSError):
            begun.unlink(missing_ok=True)


def write_output(path: Path, content: bytes) -> None:
    """Writes a file that a user named: whole, or directly if it is no ordinary file, such as /dev/stdout.

    What killed processes left of it is removed.

    Raises:
        UserError: if it cannot be written.
    """
    try:
        special = path.exists() and not path.is_file()
        if special:
            path.write_bytes(content)
            return
        for rest in left_over(path.resolve()):
            rest.unlink(missing_ok=True)
        write_whole(path.resolve(), content)
    except OSError as e:
        cure = CURES.get(e.errno or 0, "name a file in an existing folder")
        raise UserError(f"{path} cannot be written: {e.strerror}", cure) from None
