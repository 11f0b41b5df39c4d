"""Packs the sample files of a finished run into one file, and unpacks them; a stop in between loses nothing.

One row group per cell: scores of a million samples are read from a few columns, and the lines of a cell without those
of others. pyarrow is at hand, since data sets come as Parquet too; a database would be one more thing to install.
"""

import hashlib
import io
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np

from afrieval._util.errors import UserError
from afrieval._util.whole_files import write_whole, written_whole
from afrieval.results.comparable_runs import check_finished
from afrieval.results.packed import PACKED, About, Arrays, Packed, content, head, packed
from afrieval.results.packed_cells import FILLS, LISTS, NUMBERS, about, numbers
from afrieval.results.run_files import locked, sample_files, sample_path, stored_name
from afrieval.results.run_folder import RunFolder, cell_lines
from afrieval.results.sample_columns import Stored
from afrieval.results.samples import REDO

LEVEL = 3  # of zstd: higher ones take longer, and save little
AS_TEXTS = ["cell", "gold", "picked", "n_choices", "part", *(f"{name}.list.element" for name in ("fields", "measures"))]


class Moved(NamedTuple):
    """Sample files that were packed or unpacked, their bytes, and those of the packed file."""

    files: int
    loose: int
    packed: int


def pack(folder: Path) -> Moved:
    """Moves the sample files of a finished run into its packed file; nothing is moved if there are none.

    The packed file is written next to its place and read again. Only when it is in its place are sample files removed.

    Raises:
        UserError: if the run is not finished, is in use, or has a damaged file.
    """
    run = RunFolder(folder, sent=True)
    check_finished(run)
    with locked(folder):
        loose = sample_files(folder)
        if not loose:
            return Moved(0, 0, (folder / PACKED).stat().st_size)
        if before := packed(folder):
            _check_newer(folder, before)
        size = sum(path.stat().st_size for path in loose)
        with written_whole(folder / PACKED) as file:
            paths = [sample_path(folder, name) for name in run.names]
            sums = write_packed(file, ((path, content(path, REDO), run.stored(stored_name(path))) for path in paths))
            file.flush()
            _check(Packed(Path(file.name)), sums)
        _sync(folder)
        for path in loose:
            path.unlink()
    return Moved(len(loose), size, (folder / PACKED).stat().st_size)


def unpack(folder: Path) -> Moved:
    """Restores the sample files of a packed run and removes the packed file; newer sample files stay.

    Raises:
        UserError: if the run is not packed, is in use, has a damaged file, or a sample file with fewer lines than the
            packed file has of its cell.
    """
    if packed(folder) is None:
        raise UserError(f"{folder} has no {PACKED}", "give a run that `afrieval pack` has packed")
    with locked(folder):
        file = Packed(folder / PACKED)
        _check_newer(folder, file)
        names = [name for name in file.cells if not os.path.lexists(folder / name)]
        size, restored = file.path.stat().st_size, 0
        for name in names:
            lines = file.content(name)
            write_whole(folder / name, lines)
            restored += len(lines)
        _sync(folder)
        file.path.unlink()
    return Moved(len(names), restored, size)


def write_packed(file: BinaryIO, cells: Iterable[tuple[Path, bytes, Stored]]) -> dict[str, bytes]:
    """Writes cells to a packed file, and returns a hash of each by the name of its sample file.

    Args:
        file: the file.
        cells: the sample file of each, its content, and what it says.
    """
    from pyarrow.parquet import ParquetWriter

    described: list[About] = []
    sums = {}
    with ParquetWriter(
        file,
        _schema(),
        compression="zstd",
        compression_level=LEVEL,
        use_dictionary=AS_TEXTS,
        write_statistics=False,
        write_page_checksum=True,
        store_schema=False,
    ) as writer:
        for path, whole, stored in cells:
            lines = list(_lines(whole))
            columns = numbers(stored, len(lines))
            described.append({"file": path.name, "lines": len(lines), **about(stored)})
            sums[path.name] = _sum(whole, {of: columns[of] for of in described[-1]["columns"]})
            writer.write_table(_table(stored.cell.name, lines, columns), row_group_size=len(lines))
        writer.add_key_value_metadata(head(NUMBERS, described))
    return sums


def _check_newer(folder: Path, file: Packed) -> None:
    """Refuses a sample file that cannot take the place of its cell in a packed file: damaged, or with fewer lines."""
    for name, of in file.cells.items():
        path = folder / name
        if not os.path.lexists(path):
            continue
        hint = f"delete {path}, and {PACKED} has its cell as it was packed; or restore it from a copy"
        try:
            lines = sum(1 for _ in cell_lines(folder, stored_name(path)))
        except UserError as e:
            raise UserError(e.message, hint) from None
        if lines < of["lines"]:
            raise UserError(f"{path} has {lines} of the {of['lines']} lines of its cell in {PACKED}", hint)


def _check(file: Packed, sums: dict[str, bytes]) -> None:
    """Refuses a packed file that does not read back as it was meant."""
    for name, digest in sums.items():
        if _sum(file.content(name), file.columns(name, sent=True), file.cells[name]["columns"]) != digest:
            raise UserError(f"{name} does not read back from {PACKED}", "check the disk; the run is as it was")


def _sum(whole: bytes, columns: Arrays, names: Any = None) -> bytes:
    found = hashlib.blake2b(whole)
    for name in sorted(columns if names is None else names):
        found.update(np.ascontiguousarray(columns[name]).tobytes())
    return found.digest()


def _lines(whole: bytes) -> Iterator[bytes]:
    """Yields the lines of a sample file with their ends; blank ones, which are no samples, go with the line before."""
    line = b""
    for more in io.BytesIO(whole):
        if line.strip() and more.strip():
            yield line
            line = b""
        line += more
    yield line


def _schema() -> Any:
    import pyarrow as pa

    types = {name: pa.from_numpy_dtype(np.asarray(fill).dtype) for name, fill in FILLS.items()}
    lists = {
        name: pa.list_(pa.field("element", pa.from_numpy_dtype(kind), nullable=False)) for name, kind in LISTS.items()
    }
    every = {"cell": pa.string(), "row": pa.int64(), **types, **lists, "line": pa.large_binary()}
    return pa.schema([pa.field(name, kind, nullable=False) for name, kind in every.items()])


def _table(name: str, lines: list[bytes], columns: Arrays) -> Any:
    import pyarrow as pa

    schema = _schema()
    arrays = {
        "cell": pa.array([name.encode(errors="replace").decode()] * len(lines)),
        "row": pa.array(np.arange(len(lines))),
        "line": pa.array(lines, pa.large_binary()),
        **{of: pa.array(columns[of]) for of in FILLS},
        **{of: _listed(columns[of], columns["scored"], schema.field(of).type) for of in LISTS},
    }
    return pa.Table.from_arrays([arrays[of] for of in schema.names], schema=schema)


def _listed(rows: Any, scored: Any, kind: Any) -> Any:
    """Returns a list for each line, which is empty in lines that were not scored."""
    import pyarrow as pa

    offsets = np.concatenate([[0], np.cumsum(scored * rows.shape[1])]).astype(np.int32)
    return pa.ListArray.from_arrays(offsets, pa.array(rows.ravel()), type=kind)


def _sync(folder: Path) -> None:
    """Makes sure that names in a folder are on the disk before others are removed."""
    place = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(place)
    finally:
        os.close(place)
