"""Writes files and folders whole: a reader sees the old content or the new one, whatever happens in between."""

import contextlib
import glob
import os
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import BinaryIO

import psutil
from filelock import FileLock, Timeout

from afrieval._util.errors import CURES, UserError


def unfinished(path: Path, kind: str = "") -> Path:
    """Returns where this process writes what is to take a path's place; its name begins with a dot.

    Args:
        path: a file or folder.
        kind: what sets it apart from others of the process, such as `.old`.
    """
    return path.with_name(f".{path.name}{kind}.{os.getpid()}")


def left_over(path: Path, kind: str = "") -> Iterator[Path]:
    """Yields what other processes, which have ended, wrote in a path's place; `kind` as in `unfinished`."""
    for file in path.parent.glob(f".{glob.escape(path.name)}{kind}.*"):
        number = file.name.rpartition(".")[2]
        if number.isdecimal() and not psutil.pid_exists(int(number)):
            yield file


def write_whole(path: Path, content: bytes) -> None:
    """Writes a file; its folder must exist."""
    with written_whole(path) as file:
        file.write(content)


@contextlib.contextmanager
def written_whole(path: Path) -> Iterator[BinaryIO]:
    """Opens a file in an existing folder; it appears once all is written, and not at all after an error."""
    begun = unfinished(path)
    try:
        with begun.open("wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        begun.replace(path)
    except OSError as e:
        e.filename = str(path)  # not the unfinished file, or none
        raise
    finally:
        with contextlib.suppress(OSError):
            begun.unlink(missing_ok=True)


def write_output(path: Path, content: bytes) -> None:
    """Writes a file that a user named: whole, or directly if it is not an ordinary file, such as /dev/stdout.

    What killed processes left of it is removed.
    """
    with _writing(path, "name a file in an existing folder"):
        if path.exists() and not path.is_file():
            path.write_bytes(content)
            return
        for rest in left_over(path.resolve()):
            rest.unlink(missing_ok=True)
        write_whole(path.resolve(), content)


@contextlib.contextmanager
def _writing(path: Path, hint: str) -> Iterator[None]:
    """Turns an error of the system into a UserError; `hint` helps where the error has no known cure."""
    try:
        yield
    except OSError as e:
        raise UserError(f"{path} cannot be written: {e.strerror}", CURES.get(e.errno or 0, hint)) from None


NEW, OLD = ".new", ".old"
FILLING = ".afrieval-unfinished"  # is in a folder while it is filled, and locked


def made(folder: Path) -> Path:
    """Returns a folder for output, which is made if it is missing."""
    with _writing(folder, "name another folder"):
        folder.mkdir(parents=True, exist_ok=True)
    return folder


def check_replaceable(folder: Path, marker: str) -> None:
    """Refuses a folder that has files which `replace_folder` has not written.

    Args:
        folder: new, empty, or written before.
        marker: name of the file that lists what was written.
    """
    hint = "name a new or empty folder"
    if not folder.parent.is_dir():
        raise UserError(f"the folder {folder.parent} does not exist", "name a folder in an existing one")
    if folder.is_dir():
        ours = {marker} if is_written(folder, marker) else set()
        if ours:
            ours.update((folder / marker).read_text(encoding="utf-8", errors="replace").splitlines())
        others = (path for path in sorted(folder.rglob("*")) if not path.is_dir() or path.is_symlink())
        foreign = next((path for path in others if path.relative_to(folder).as_posix() not in ours), None)
        if foreign is not None:
            raise UserError(f"{folder} would be replaced, and {foreign} in it was not written by this command", hint)
    elif os.path.lexists(folder):
        raise UserError(f"{folder} is not a folder", hint)


def is_written(folder: Path, marker: str) -> bool:
    """Returns whether `replace_folder` has written a folder."""
    return (folder / marker).is_file()


def replace_folder(folder: Path, files: Mapping[str, bytes], marker: str) -> None:
    """Writes all files of a folder, which is then the old one or the new one, never in between.

    Args:
        folder: as for `check_replaceable`, which is called.
        files: contents by name, with slashes.
        marker: name of the file that lists them.
    """
    check_replaceable(folder, marker)
    new, old = unfinished(folder, NEW), unfinished(folder, OLD)
    listed = "".join(f"{name}\n" for name in sorted(files)).encode()
    try:
        with _writing(folder, "name a folder that can be written"):
            new.mkdir()
            for name, content in {**files, marker: listed}.items():
                (new / name).parent.mkdir(parents=True, exist_ok=True)
                (new / name).write_bytes(content)
            if folder.exists():
                folder.rename(old)
            new.rename(folder)
    except BaseException:  # Ctrl-C may come between the two
        if old.exists() and not folder.exists():
            old.rename(folder)
        raise
    finally:
        for rest in (new, old, *left_over(folder, NEW), *left_over(folder, OLD)):
            shutil.rmtree(rest, ignore_errors=True)


@contextlib.contextmanager
def filled(folder: Path) -> Iterator[None]:
    """Leaves a folder that is new or empty as it is, if what fills it fails or is stopped.

    A killed process cannot; its files are removed by the next one that fills the folder.

    Raises:
        UserError: if it is neither new nor empty, or another process fills it.
    """
    new = not os.path.lexists(folder)
    marker = folder / FILLING
    if not new and (not folder.is_dir() or (any(_entries(folder)) and not marker.is_file())):
        raise UserError(f"{folder} exists and is not empty", "name a new folder, or delete that one")
    lock = FileLock(marker)
    made(folder)
    with _writing(folder, "name another folder"):
        try:
            lock.acquire(timeout=0)
        except Timeout:
            raise UserError(f"another process writes to {folder}", "wait for it, or name another folder") from None
    try:
        _empty(folder)
        yield
        with contextlib.suppress(PermissionError):  # on Windows it goes when the lock is released
            marker.unlink()
    except BaseException as e:  # Ctrl-C too
        if isinstance(e, OSError) and not marker.exists():
            raise UserError(f"{folder} was removed while it was filled", "run the same command again") from None
        with contextlib.suppress(OSError):  # do not hide the first error
            _empty(folder)
            marker.unlink()
            if new:
                folder.rmdir()
        raise
    finally:
        lock.release()


def _entries(folder: Path) -> Iterator[Path]:
    """Yields what is in a folder, except the file that marks it as being filled."""
    return (path for path in folder.iterdir() if path.name != FILLING)


def _empty(folder: Path) -> None:
    for path in _entries(folder):
        shutil.rmtree(path, ignore_errors=True) if path.is_dir() else path.unlink(missing_ok=True)
