"""Opens, names and finds files: every file that was given or found is opened here."""

import contextlib
import errno
import os
import stat
from collections.abc import Callable, Iterator
from io import BufferedReader
from pathlib import Path

from afrieval._util.errors import UserError
from afrieval._util.terminal import shortened

UNUSABLE = (errno.ENAMETOOLONG, errno.ELOOP, errno.EILSEQ)  # other errors are raised when the path is used


def user_path(text: str | os.PathLike[str]) -> Path:
    """Returns a path given by a user, with `~` expanded; it need not exist.

    Raises:
        UserError: if no file can have that path: no text, an empty one, an unknown user, a name that is too long, a
            loop of symbolic links.
    """
    name = os.fspath(text) if isinstance(text, os.PathLike) else text
    if not isinstance(name, str):
        raise UserError(f"a path must be text, not {name!r}", "give the path of a file or a folder")
    if not name:
        raise UserError("the path is empty", "name a file or a folder")
    if "\0" in name:
        raise UserError(f"the path {shortened(name)} contains a NUL character", "remove it")
    try:
        path = Path(name).expanduser()
    except RuntimeError:
        user = name.partition("/")[0]
        raise UserError(f"{shortened(name)}: there is no user {user[1:]!r}", "give the whole path") from None
    try:
        path.stat()
    except UnicodeEncodeError:
        raise UserError(f"the path {shortened(name)} is not valid text", "rename the file") from None
    except OSError as e:
        if e.errno in UNUSABLE:
            raise UserError(f"the path {shortened(name)} cannot be used: {e.strerror}", "give another path") from None
    return path


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
        status = os.fstat(file.fileno())
        _check(status, path, hint, largest)
        if stat.S_ISFIFO(status.st_mode):
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

    Raises:
        UserError: if the file cannot be read, or is not UTF-8; the line is named.
    """
    content = read_bytes(path, hint, largest)
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as e:
        line = content[: e.start].count(b"\n") + 1
        raise UserError(f"{path}, line {line}, is not UTF-8 text", hint) from None


def _check(status: os.stat_result, path: Path, hint: str, largest: int | None) -> None:
    kind = status.st_mode
    if stat.S_ISDIR(kind):
        raise UserError(f"{path} is a folder, not a file", hint)
    if stat.S_ISSOCK(kind):
        raise UserError(f"{path} is a socket, not a file", hint)
    if not (stat.S_ISREG(kind) or stat.S_ISFIFO(kind)):
        raise UserError(f"{path} is a device, not a file", hint)
    if stat.S_ISFIFO(kind) and path.resolve().parent.name != "fd":  # a shell's pipes are /dev/fd/63 and such
        raise UserError(f"{path} is a named pipe, not a file", hint)  # it may never have a writer
    if largest is not None and status.st_size > largest:
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


SYSTEM = tuple(map(Path, ("/proc", "/sys", "/dev")))  # their folders have no end, and their files may have no content
MOST = 50_000  # folders


def walked(
    top: Path, skipped: Callable[[Path], bool], lost: dict[Path, str]
) -> Iterator[tuple[Path, list[str], list[str]]]:
    """Yields a folder and those below it, each once, with its folders, which may be removed, and files.

    Links are followed, except to folders that contain `top` and to the system's own. Hidden folders are not entered.

    Args:
        top: where to begin.
        skipped: returns whether a folder is not entered.
        lost: receives what could not be entered, with the reason.
    """

    def note(error: OSError) -> None:
        lost[Path(error.filename)] = error.strerror or str(error)

    seen = {top.resolve()}
    for parent, folders, files in os.walk(top, onerror=note, followlinks=True):
        folder, entered = Path(parent), []
        for name in sorted(folders):
            try:
                target = (folder / name).resolve()
                if name.startswith(".") or target in seen or skipped(folder / name):
                    continue
            except (OSError, RuntimeError) as e:  # a link that leads to itself by now
                lost[folder / name] = str(e)
                continue
            if why := _refused(target, top, len(seen)):
                lost[top if len(seen) >= MOST else folder / name] = why
                continue
            seen.add(target)
            entered.append(name)
        folders[:] = entered
        yield folder, folders, files


def broken_links(folder: Path, files: list[str]) -> Iterator[Path]:
    """Yields the links in a folder that lead to nothing, or to themselves; hidden ones are left out."""
    paths = (folder / name for name in files if not name.startswith("."))
    yield from (path for path in paths if path.is_symlink() and not os.path.exists(path))  # noqa: PTH110 - never fails


def _refused(target: Path, top: Path, seen: int) -> str:
    """Returns why a folder is not entered; empty if it is."""
    inside = top.resolve()
    if inside.is_relative_to(target):
        return f"it is a link to {target}, which contains this folder"
    if any(target.is_relative_to(of) and not inside.is_relative_to(of) for of in SYSTEM):
        return f"{target} is a folder of the system"
    return f"it has more than {MOST:,} folders; the others are not read" if seen >= MOST else ""
