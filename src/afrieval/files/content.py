"""The one way to open a file that was given or found: its bytes and its text, or an error that names it."""

import contextlib
import os
import stat
from collections.abc import Iterator
from io import BufferedReader
from pathlib import Path

from afrieval.errors import UserError
from afrieval.files.paths import user_path

AT_ONCE = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)  # what has no data yet is not waited for


def check_file(path: Path, hint: str, largest: int | None = None) -> None:
    """Refuses what is not a file, for libraries that open it themselves; arguments and errors as for `opened`."""
    with _explained(path, hint):
        _check(user_path(path).stat(), path, hint, largest)


@contextlib.contextmanager
def opened(path: Path, hint: str, largest: int | None = None) -> Iterator[BufferedReader]:
    """Opens a file for reading its bytes; errors while it is read name it, too.

    Args:
        path: a regular file, or a pipe such as a shell's `<(command)`.
        hint: how to fix it, if the file cannot be read.
        largest: the largest size, in bytes, of a valid file; None for no limit. A pipe does not say its size.

    Raises:
        UserError: if the file does not exist, is a folder, named pipe, socket or device, is too large or cannot be
            read.
    """
    check_file(path, hint, largest)  # before it is opened: for a device, that may be an order
    with _explained(path, hint), os.fdopen(os.open(path, os.O_RDONLY | AT_ONCE), "rb") as file:
        found = os.fstat(file.fileno())
        _check(found, path, hint, largest)
        if stat.S_ISFIFO(found.st_mode):
            os.set_blocking(file.fileno(), True)
        yield file


def read_bytes(path: Path, hint: str, largest: int | None = None) -> bytes:
    """Returns the bytes of a file; arguments and errors as for `opened`, and a pipe that holds too much is refused."""
    with opened(path, hint, largest) as file:
        content: bytes | None = file.read(-1 if largest is None else largest + 1)
    if content is None:  # such as /proc/kmsg
        raise UserError(f"{path} cannot be read: it would have to be waited for", hint)
    if largest is not None and len(content) > largest:
        raise _too_large(path, hint, largest)
    return content


def read_text(path: Path, hint: str, largest: int | None = None) -> str:
    """Returns the text of a UTF-8 file, without a byte order mark.

    Args:
        path: as for `opened`.
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


def _check(found: os.stat_result, path: Path, hint: str, largest: int | None) -> None:
    kind = found.st_mode
    if stat.S_ISDIR(kind):
        raise UserError(f"{path} is a folder, not a file", hint)
    if stat.S_ISSOCK(kind):
        raise UserError(f"{path} is a socket, not a file", hint)
    if not (stat.S_ISREG(kind) or stat.S_ISFIFO(kind)):
        raise UserError(f"{path} is a device, not a file", hint)
    if stat.S_ISFIFO(kind) and path.resolve().parent.name != "fd":  # a shell's pipes are /dev/fd/63 and such
        raise UserError(f"{path} is a named pipe, not a file", hint)  # it may never have a writer
    if largest is not None and found.st_size > largest:
        raise _too_large(path, hint, largest)


def _too_large(path: Path, hint: str, largest: int) -> UserError:
    return UserError(f"{path} is larger than {largest} bytes, the limit for such a file", hint)


@contextlib.contextmanager
def _explained(path: Path, hint: str) -> Iterator[None]:
    try:
        yield
    except FileNotFoundError:
        raise UserError(f"there is no file {path}", hint) from None
    except OSError as e:
        raise UserError(f"{path} cannot be read: {e.strerror or e}", hint) from None
