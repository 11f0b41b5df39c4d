"""Writes files whole: a reader sees the old content or the new one, whatever happens in between."""

import contextlib
import os
from pathlib import Path

from afrieval.errors import UserError


def write_whole(path: Path, content: bytes) -> None:
    """Writes a file; its folder must exist.

    Args:
        path: the file, which may exist.
        content: all of its bytes.
    """
    unfinished = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with unfinished.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        unfinished.replace(path)
    except OSError as e:
        e.filename = str(path)  # not that of the unfinished file, or none
        raise
    finally:
        with contextlib.suppress(OSError):
            unfinished.unlink(missing_ok=True)


def write_output(path: Path, content: bytes) -> None:
    """Writes a file that a user named: whole, or directly if it is no ordinary file, such as /dev/stdout.

    Raises:
        UserError: if it cannot be written.
    """
    try:
        special = path.exists() and not path.is_file()
        path.write_bytes(content) if special else write_whole(path.resolve(), content)
    except OSError as e:
        raise UserError(f"{path} cannot be written: {e.strerror}", "name a file in an existing folder") from None
