"""Writes files whole: a reader sees the old content or the new one, whatever happens in between."""

import contextlib
import os
from pathlib import Path


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
