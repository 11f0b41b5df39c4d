"""Reads samples.zip: the sample files of a run in one archive, byte for byte.

A sample file next to the archive is newer, and is read instead.
"""

import contextlib
import hashlib
import json
import os
import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import BinaryIO
from zipfile import ZipInfo

from afrieval._util.archive import Archive
from afrieval._util.errors import UserError
from afrieval._util.files import check_file, opened

PACKED = "samples.zip"
VERSION = 1  # of the archive; a reader refuses later ones
LARGEST = 2**33  # bytes of a sample file: more than a million lines
OPEN = 64  # archives whose directory is kept, about 1 KB per cell
CURE = "restore it from a copy, or delete it and run again; all cells in it are redone"
FILE = re.compile(r"samples_[^/\x00]+\.jsonl")
COMMENT = re.compile(rb"afrieval pack (\d{1,9}) ([0-9a-f]{32})")


def packed(folder: Path) -> Archive | None:
    """Returns the archive of a run folder as it is now, whose members are sample files; None if it has none.

    Raises:
        UserError: if it is damaged, or something else wrote it.
    """
    path = os.path.join(folder, PACKED)  # noqa: PTH118 - this is asked for each cell
    try:
        stat = os.stat(path)  # noqa: PTH116
    except OSError:
        if os.path.lexists(path):  # such as a link to nothing
            check_file(Path(path), CURE)
        return None
    return _archive(path, stat.st_ino, stat.st_size, stat.st_mtime_ns)


@lru_cache(maxsize=OPEN)
def _archive(path: str, *signature: int) -> Archive:
    return checked_archive(Path(path))


def checked_archive(path: Path) -> Archive:
    """Returns an archive that `pack` wrote; refuses any other."""
    archive = Archive(path, CURE, LARGEST)
    match = COMMENT.fullmatch(archive.comment)
    if match is None:
        hint = f"{CURE}; if it is of another program, move it to another folder"
        raise UserError(f"{path} was not written by afrieval pack, or is damaged", hint)
    if int(match[1]) > VERSION:
        raise UserError(f"{path} was packed by a later version of afrieval", "read it with that version, or unpack it")
    members = archive.members.values()
    if archive.comment != directory_comment(members) or not all(FILE.fullmatch(name) for name in archive.members):
        raise UserError(f"{path} is damaged: its directory has changed", CURE)
    return archive


def directory_comment(members: Iterable[ZipInfo]) -> bytes:
    """Returns the comment of an archive: who wrote it, and a hash of its directory, which zip does not check."""
    text = json.dumps([(member.filename, member.file_size, member.CRC) for member in members]).encode()
    return f"afrieval pack {VERSION} {hashlib.blake2b(text, digest_size=16).hexdigest()}".encode()


def is_packed(path: Path) -> bool:
    """Returns whether a sample file is in the archive of its folder, and nowhere else."""
    return not os.path.lexists(path) and (archive := packed(path.parent)) is not None and path.name in archive.members


def source(path: Path) -> Path:
    """Returns the file that a cell is read from: its sample file, or the archive if that one is not there."""
    return path if os.path.lexists(path) else path.with_name(PACKED)


@contextlib.contextmanager
def opened_samples(path: Path, hint: str) -> Iterator[BinaryIO]:
    """Opens a sample file, which may be packed, for reading."""
    with contextlib.ExitStack() as stack:
        file: BinaryIO
        try:
            file = stack.enter_context(opened(path, hint))
        except UserError:
            archive = packed(path.parent) if is_packed(path) else None  # it may have been moved there just now
            if archive is None:
                raise
            file = stack.enter_context(archive.open(path.name))
        yield file
