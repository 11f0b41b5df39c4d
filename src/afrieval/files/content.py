"""The bytes and the text of a file, or an error that names it."""

import stat
from pathlib import Path

from afrieval.errors import UserError
from afrieval.files.paths import user_path


def read_bytes(path: Path, hint: str, largest: int | None = None) -> bytes:
    """Returns the bytes of a file.

    Args:
        path: a regular file, or a pipe such as a shell's `<(command)`.
        hint: how to fix it, if the file cannot be read.
        largest: the largest size, in bytes, of a valid file; None for no limit.

    Raises:
        UserError: if the file does not exist, is a folder or device, is too large or cannot be read.
    """
    too_large = f"{path} is larger than {largest} bytes, the limit for such a file"
    try:
        found = user_path(path).stat()
        if stat.S_ISDIR(found.st_mode):
            raise UserError(f"{path} is a folder, not a file", hint)
        if not (stat.S_ISREG(found.st_mode) or stat.S_ISFIFO(found.st_mode)):
            raise UserError(f"{path} is a device, not a file", hint)
        if (
            stat.S_ISFIFO(found.st_mode) and path.resolve().parent.name != "fd"
        ):  # a shell's pipes are /dev/fd/63 and such
            raise UserError(f"{path} is a named pipe, not a file", hint)  # it may never have a writer
        if largest is not None and found.st_size > largest:
            raise UserError(too_large, hint)
        with path.open("rb") as file:
            content = file.read(-1 if largest is None else largest + 1)
        if largest is not None and len(content) > largest:  # a pipe has no size
            raise UserError(too_large, hint)
        return content
    except FileNotFoundError:
        raise UserError(f"there is no file {path}", hint) from None
    except OSError as e:
        raise UserError(f"{path} cannot be read: {e.strerror}", hint) from None


def read_text(path: Path, hint: str, largest: int | None = None) -> str:
    """Returns the text of a UTF-8 file, without a byte order mark.

    Args:
        path: as for `read_bytes`.
        hint: how to fix it, if the file cannot be read.
        largest: the largest size, in bytes, of a valid file; None for no limit.

    Raises:
        UserError: if the file cannot be read, or is not UTF-8; the line is named.
    """
    content = read_bytes(path, hint, largest)
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as e:
        line = content[: e.start].count(b"\n") + 1
        raise UserError(f"{path}, line {line}, is not UTF-8 text", hint) from None
