"""Folders in the user's cache, which are built once and used by all later runs."""

import contextlib
import os
import tempfile
from collections.abc import Callable
from pathlib import Path

from afrieval._util.errors import UserError
from afrieval._util.files import user_path


def cached_folder(name: str, build: Callable[[Path], None]) -> Path:
    """Returns a folder of the user's cache; it appears once `build` has filled it.

    Args:
        name: of the folder, which also says which version of its content it has.
        build: makes and fills the folder that it is called with, if it is not there.

    Raises:
        UserError: if the cache cannot be written.
    """
    folder = user_path(os.environ.get("XDG_CACHE_HOME") or "~/.cache") / "afrieval" / name
    if not folder.is_dir():
        try:
            folder.parent.mkdir(parents=True, exist_ok=True)
        except OSError as e:
            message = f"{folder.parent} cannot be written: {e.strerror}"
            raise UserError(message, "set XDG_CACHE_HOME to a writable folder") from None
        with tempfile.TemporaryDirectory(dir=folder.parent) as unfinished:
            build(Path(unfinished) / folder.name)
            with contextlib.suppress(OSError):  # another process was quicker
                (Path(unfinished) / folder.name).rename(folder)
    return folder
