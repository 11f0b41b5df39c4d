"""samples.parquet: the sample files of a run in one file, whose numbers can be read without its lines.

A row is a line of a sample file, a row group is a cell. The file's metadata says what each cell is, and `packed_cells`
makes scores of it. A sample file next to it is newer, and is read instead.
"""

import contextlib
import hashlib
import json
import os
import re
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from afrieval._util.errors import UserError
from afrieval._util.files import check_file, read_bytes

PACKED = "samples.parquet"
VERSION = 1  # of the file; a reader refuses later ones
KEY, SUM = b"afrieval", b"afrieval.blake2b"  # what the metadata says of the cells, and a hash of it
CURE = "restore it from a copy, or delete it and run again; all cells in it are redone"
TOGETHER = 200_000  # rows whose numbers are read at once: a cell by itself takes four times as long
OPEN = 64  # files whose metadata is kept, about 1.5 KB per cell
FILE = re.compile(r"samples_[^/\x00]+\.jsonl")

About = dict[str, Any]  # what the metadata says of a cell
Arrays = dict[str, NDArray[Any]]


class Packed:
    """A packed file, of which only what is asked for is read.

    Args:
        path: the file.

    Attributes:
        cells: name of each cell's sample file to what the metadata says of it, in the order of row groups.
        numbers: the version of its numbers.

    Raises:
        UserError: if the file is damaged, or a later version wrote it.
    """

    def __init__(self, path: Path):
        self.path = path
        check_file(path, CURE)
        with _damage(path):
            from pyarrow.parquet import read_metadata

            self._metadata = read_metadata(path)
        head = _head(path, dict(self._metadata.metadata or {}))
        self.cells: dict[str, About] = {cell["file"]: cell for cell in head["cells"]}
        self.numbers: int = head["numbers"]
        self._names = list(self.cells)
        self._place = {name: at for at, name in enumerate(self._names)}
        self._read: tuple[bool, dict[str, Arrays]] = (False, {})
        if len(self._names) != self._metadata.num_row_groups or not all(map(FILE.fullmatch, self._names)):
            raise UserError(f"{path} is damaged: its cells are not its row groups", CURE)

    def content(self, name: str) -> bytes:
        """Returns the bytes of a cell's sample file.

        Raises:
            UserError: if they are damaged.
        """
        with _damage(self.path), self._opened() as file:
            lines = file.read_row_group(self._place[name], columns=["line"], use_threads=False).column(0)
            if len(lines) != self.cells[name]["lines"]:  # Arrow leaves out pages of a kind that it does not know
                raise ValueError(f"{name} has {len(lines)} lines, not {self.cells[name]['lines']}")
            return b"".join(lines.to_pylist())

    def columns(self, name: str, sent: bool) -> Arrays:
        """Returns the numbers of a cell, those of lists one after the other.

        Those of the cells that follow are read with them, since they will be asked for next, and kept until they are.

        Args:
            name: of its sample file.
            sent: whether to read hashes of what was sent to the model.

        Raises:
            UserError: if they are damaged.
        """
        with_sent, read = self._read
        if name not in read or (sent and not with_sent):
            self._read = sent, self._numbers(self._place[name], sent)
        return self._read[1].pop(name)

    def _numbers(self, first: int, sent: bool) -> dict[str, Arrays]:
        """Returns the numbers of several cells, from one on."""
        names, rows = [], 0
        for name in self._names[first:]:
            names.append(name)
            if (rows := rows + self.cells[name]["lines"]) >= TOGETHER:
                break
        wanted = {column for name in names for column in self.cells[name]["columns"] if sent or column != "sent"}
        found: dict[str, Arrays] = {name: {} for name in names}
        with _damage(self.path), self._opened() as file:
            groups = list(range(first, first + len(names)))
            table = file.read_row_groups(groups, columns=sorted(wanted), use_threads=False)
            for column in table.column_names:
                sizes = [_size(self.cells[name], column) for name in names]
                values = _flat(table.column(column))
                if len(values) != sum(sizes):
                    raise ValueError(f"{column} has {len(values)} numbers, not {sum(sizes)}")
                for name, part in zip(names, np.split(values, np.cumsum(sizes)[:-1]), strict=True):
                    found[name][column] = part
        return found

    def _opened(self) -> Any:
        from pyarrow.parquet import ParquetFile

        return ParquetFile(self.path, metadata=self._metadata, page_checksum_verification=True)


def packed(folder: Path) -> Packed | None:
    """Returns the packed file of a run folder as it is now; None if it has none.

    Raises:
        UserError: if it is damaged.
    """
    path = os.path.join(folder, PACKED)  # noqa: PTH118 - this is asked for each cell
    try:
        stat = os.stat(path)  # noqa: PTH116
    except OSError:
        if os.path.lexists(path):  # such as a link to nothing
            check_file(Path(path), CURE)
        return None
    return _packed(path, stat.st_ino, stat.st_size, stat.st_mtime_ns)


@lru_cache(maxsize=OPEN)
def _packed(path: str, *signature: int) -> Packed:
    return Packed(Path(path))


def is_packed(path: Path) -> bool:
    """Returns whether a sample file is in the packed file of its folder, and nowhere else."""
    return not os.path.lexists(path) and (found := packed(path.parent)) is not None and path.name in found.cells


def source(path: Path) -> Path:
    """Returns the file that a cell is read from: its sample file, or the packed file if that one is not there."""
    return path if os.path.lexists(path) else path.with_name(PACKED)


def content(path: Path, hint: str) -> bytes:
    """Returns the bytes of a sample file, which may be packed.

    Args:
        path: the sample file.
        hint: how to fix it, if the file cannot be read.

    Raises:
        UserError: if it cannot be read.
    """
    try:
        return read_bytes(path, hint)
    except UserError:
        if is_packed(path) and (found := packed(path.parent)):  # it may have been moved there just now
            return found.content(path.name)
        raise


def head(numbers: int, cells: list[About]) -> dict[bytes, bytes]:
    """Returns what the metadata of a packed file says.

    Args:
        numbers: the version of its numbers.
        cells: what it says of each, in the order of row groups.
    """
    text = json.dumps({"version": VERSION, "numbers": numbers, "cells": cells}).encode()
    return {KEY: text, SUM: _sum(text)}


def _head(path: Path, metadata: dict[bytes, bytes]) -> dict[str, Any]:
    text = metadata.get(KEY, b"")
    if not text:
        raise UserError(f"{path} was not written by afrieval pack", "move it to another folder")
    if _sum(text) != metadata.get(SUM):
        raise UserError(f"{path} is damaged: what it says of its cells has changed", CURE)
    found: dict[str, Any] = json.loads(text)
    if found["version"] > VERSION:
        raise UserError(f"{path} was packed by a later version of afrieval", "read it with that version, or unpack it")
    return found


def _sum(text: bytes) -> bytes:
    return hashlib.blake2b(text, digest_size=16).hexdigest().encode()


def _size(about: About, column: str) -> int:
    """Returns how many numbers a cell has in a column: of each line, or of each scored one as many as are listed."""
    width = about["widths"].get(column)
    return int(about["lines"] if width is None else width * about["n"])


def _flat(column: Any) -> NDArray[Any]:
    """Returns the values of a column of Arrow, those of lists one after the other."""
    import pyarrow as pa

    listed = pa.types.is_list(column.type)
    chunks = [chunk.flatten() if listed else chunk for chunk in column.chunks]
    return np.concatenate([chunk.to_numpy(zero_copy_only=False) for chunk in chunks])


@contextlib.contextmanager
def _damage(path: Path) -> Iterator[None]:
    """Names the file where Arrow cannot read it."""
    from pyarrow import ArrowException

    try:
        yield
    except FileNotFoundError:
        raise UserError(f"{path} was removed while it was read", "try again") from None
    except PermissionError as e:
        raise UserError(f"{path} cannot be read: {e.strerror}", "change its permissions") from None
    except (ArrowException, OSError, ValueError) as e:
        raise UserError(f"{path} is damaged: {str(e).splitlines()[0]}", CURE) from None
