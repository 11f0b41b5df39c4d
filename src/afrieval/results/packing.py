"""Moves the sample files of a run into one archive and back, so that a kill at any moment loses nothing."""

import os
import shutil
from collections.abc import Iterable
from itertools import zip_longest
from pathlib import Path
from typing import BinaryIO, NamedTuple
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from afrieval._util.archive import Archive
from afrieval._util.errors import UserError
from afrieval._util.files import check_file
from afrieval._util.whole_files import written_whole
from afrieval.results.comparable_runs import check_finished
from afrieval.results.packed import LARGEST, PACKED, checked_archive, directory_comment, opened_samples, packed
from afrieval.results.run_files import locked, sample_files, sample_path, stored_name
from afrieval.results.run_folder import RunFolder, cell_lines
from afrieval.results.samples import REDO


class Moved(NamedTuple):
    """Sample files that were packed or unpacked, their bytes, and the bytes of the archive."""

    files: int
    loose: int
    packed: int


def pack(folder: Path) -> Moved:
    """Moves the sample files of a finished run into its archive; nothing is moved if there are none.

    The archive is written under another name, read again and compared. Only when it is in its place are sample files
    removed.

    Raises:
        UserError: if the run is not finished, is in use, or has a damaged file.
    """
    run = RunFolder(folder)
    check_finished(run)
    with locked(folder):
        loose = sample_files(folder)
        if not loose:
            return Moved(0, 0, (folder / PACKED).stat().st_size)
        before = packed(folder)
        for path in loose:
            _check_newer(path, before)
        size = sum(path.stat().st_size for path in loose)
        paths = [sample_path(folder, name) for name in run.names]
        with written_whole(folder / PACKED) as file:
            write_archive(file, paths)
            file.flush()
            _check_same(paths, checked_archive(Path(file.name)))
        _sync(folder)
        for path in loose:
            path.unlink()
    return Moved(len(loose), size, (folder / PACKED).stat().st_size)


def unpack(folder: Path) -> Moved:
    """Restores the sample files of a packed run and removes the archive; newer sample files stay.

    Raises:
        UserError: if the run is not packed, is in use, has a damaged file, or a sample file with fewer lines than the
            archive has of its cell.
    """
    if packed(folder) is None:
        raise UserError(f"{folder} has no {PACKED}", "give a run that `afrieval pack` has packed")
    with locked(folder):
        archive = checked_archive(folder / PACKED)
        paths = [folder / name for name in archive.members]
        newer = [path for path in paths if os.path.lexists(path)]
        missing = [path for path in paths if not os.path.lexists(path)]
        for path in newer:
            _check_newer(path, archive)
        for path in missing:
            with archive.open(path.name) as source, written_whole(path) as target:
                shutil.copyfileobj(source, target)
        _check_same(missing, archive)
        _sync(folder)
        for path in paths:  # as late as can be
            check_file(path, _hint(path))
        size, restored = archive.path.stat().st_size, sum(path.stat().st_size for path in missing)
        archive.path.unlink()
    return Moved(len(missing), restored, size)


def write_archive(file: BinaryIO, paths: Iterable[Path]) -> None:
    """Writes sample files, which may be packed, to an archive, whose bytes depend on theirs only."""
    with ZipFile(file, "w") as archive:
        for path in paths:
            member = ZipInfo(path.name)
            member.compress_type, member.external_attr = ZIP_DEFLATED, 0o644 << 16
            with opened_samples(path, REDO) as source, archive.open(member, "w", force_zip64=True) as target:
                shutil.copyfileobj(source, target)
        archive.comment = directory_comment(archive.infolist())


def _check_newer(path: Path, archive: Archive | None) -> None:
    """Refuses a sample file that cannot take the place of its cell in an archive: damaged, or with fewer lines."""
    packed_lines = 0
    if archive and path.name in archive.members:
        with archive.open(path.name) as file:
            packed_lines = sum(1 for line in file if line != b"\n")
    try:
        check_file(path, "leave the run as it is", LARGEST)
        lines = sum(1 for _ in cell_lines(path.parent, stored_name(path)))
    except UserError as e:
        raise UserError(e.message, _hint(path) if packed_lines else e.hint) from None
    if lines < packed_lines:
        raise UserError(f"{path} has {lines} of the {packed_lines} lines of its cell in {PACKED}", _hint(path))


def _hint(path: Path) -> str:
    return f"delete {path}, and {PACKED} has its cell as it was packed; or restore it from a copy"


def _check_same(paths: Iterable[Path], archive: Archive) -> None:
    """Refuses an archive that differs from sample files, which may be packed."""
    for path in paths:
        with opened_samples(path, REDO) as one, archive.open(path.name) as other:
            if any(a != b for a, b in zip_longest(one, other)):
                raise UserError(f"{path.name} does not read back from {PACKED}", "check the disk; the run is as it was")


def _sync(folder: Path) -> None:
    """Makes sure that names in a folder are on the disk before others are removed, where a folder can be opened."""
    if not hasattr(os, "O_DIRECTORY"):  # Windows
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
