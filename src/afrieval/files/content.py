"""The bytes and the text of a file, or an error that names it."""

import stat
from pathlib import Path

from afrieval.errors import UserError
from afrieval.files.paths import user_path


def read_bytes(path: Path, hint: str, largest: int | None = None) -> bytes:
    """Returns what a file holds.

    Args:
        path: a regular file, or a pipe such as a shell's `<(command)`.
        hint: the cure, if it cannot be read.
        largest: the most bytes that such a file can have; None for any number.

    Raises:
        UserError: if there is no such file, or it is a folder or device, or it is too large or cannot be read.
    """
    try:
        found = user_path(path).stat()
        if stat.S_ISDIR(found.st_mode):
            raise UserError(f"{path} is a folder, not a file", hint)
        if not (stat.S_ISREG(found.st_mode) or stat.S_ISFIFO(found.st_mode)):
            raise UserError(f"{path} is a device, not a file", hint)
        if largest is not None and found.st_size > largest:
            raise UserError(f"{path} has {found.st_size} bytes, and such a file has at most {largest}", hint)
        return path.read_bytes()
    except FileNotFoundError:
        raise UserError(f"there is no file {path}", hint) from None
    except OSError as e:
        raise UserError(f"{path} cannot be read: {e.strerror}", hint) from None


def read_text(path: Path, hint: str, largest: int | None = None) -> str:
    """Returns what a file of UTF-8 text holds, without a byte order mark.

    Args:
        path: as for `read_bytes`.
        hint: the cure, if it cannot be read.
        largest: the most bytes that such a file can have; None for any number.

    Raises:
        UserError: if it cannot be read, or is not UTF-8; the line is named.
    """
    content = read_bytes(path, hint, largest)
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as e:
        line = content[: e.start].count(b"\n") + 1
        raise UserError(f"{path}, line {line}, is not UTF-8 text", hint) from None
