"""Paths given by users: in options, in files, in environment variables."""

import errno
import os
from pathlib import Path

from afrieval.errors import UserError
from afrieval.terminal import shortened

UNUSABLE = (errno.ENAMETOOLONG, errno.ELOOP, errno.EILSEQ)  # other errors are raised when the path is used


def user_path(text: str | os.PathLike[str]) -> Path:
    """Returns a path given by a user, with `~` expanded; it need not exist.

    Args:
        text: the path, absolute or relative to the working directory.

    Raises:
        UserError: if no file can have that path: no text, an empty one, an unknown user, a name that is too long, a
            loop of symbolic links.
    """
    given = os.fspath(text) if isinstance(text, os.PathLike) else text
    if not isinstance(given, str):
        raise UserError(f"a path must be text, not {given!r}", "give the path of a file or a folder")
    if not given:
        raise UserError("the path is empty", "name a file or a folder")
    if "\0" in given:
        raise UserError(f"the path {shortened(given)} contains a NUL character", "remove it")
    try:
        path = Path(given).expanduser()
    except RuntimeError:
        user = given.partition("/")[0]
        raise UserError(f"{shortened(given)}: there is no user {user[1:]!r}", "give the whole path") from None
    try:
        path.stat()
    except UnicodeEncodeError:
        raise UserError(f"the path {shortened(given)} is not valid text", "rename the file") from None
    except OSError as e:
        if e.errno in UNUSABLE:
            raise UserError(f"the path {shortened(given)} cannot be used: {e.strerror}", "give another path") from None
    return path
