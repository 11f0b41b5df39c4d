"""Readers of results of other programs: the registry of them, and what they find at a path."""

from pathlib import Path

from afrieval._util.registry import Registry
from afrieval.analysis.published_files import PublishedTable, read_published
from afrieval.exchange.foreign_cells import RunReader, TableReader
from afrieval.results.cell_scores import CellScores
from afrieval.results.run_files import RUN

OWN = "lm_eval"
READERS: Registry[RunReader | TableReader] = Registry(
    "reader", "afrieval.readers", {OWN: "afrieval.exchange.lm_eval_runs:READER"}, needs=["wrote", "read"]
)


def run_readers() -> list[tuple[str, RunReader]]:
    """Returns the readers of scores per document by name, in the order in which they are asked.

    Readers of folders come first, and lm_eval's last among them: any file with a date in its name may be of lm_eval.
    """
    readers = [(name, reader) for name, reader in READERS.items() if isinstance(reader, RunReader)]
    return sorted(readers, key=lambda pair: (pair[1].of_files, pair[0] == OWN))


def reader_of_run(path: Path) -> tuple[str, RunReader] | None:
    """Returns the reader of the program that wrote a folder or file with scores per document, with its name."""
    return next(((name, reader) for name, reader in run_readers() if _wrote(name, reader, path)), None)


def cells_of_run(path: Path) -> list[CellScores]:
    """Returns the scores in a folder or file; none if it has no `reader_of_run`."""
    if (named := reader_of_run(path)) is None:
        return []
    name, reader = named
    with READERS.calling(name, f"for {path}"):
        return reader.read(path)


def is_published(path: Path) -> bool:
    """Returns whether a path has published scores: a table, or what a reader of scores without documents knows."""
    if path.is_dir() and ((path / RUN).exists() or reader_of_run(path)):
        return False
    return path.suffix == ".csv" or bool(_reader_of_table(path))


def published_at(path: Path) -> PublishedTable:
    """Returns the published scores at a path."""
    if path.suffix == ".csv" or (named := _reader_of_table(path)) is None:
        return read_published(path)
    name, reader = named
    with READERS.calling(name, f"for {path}"):
        return reader.read(path)


def _reader_of_table(path: Path) -> tuple[str, TableReader] | None:
    tables = [(name, reader) for name, reader in READERS.items() if isinstance(reader, TableReader)]
    return next(((name, reader) for name, reader in tables if _wrote(name, reader, path)), None)


def _wrote(name: str, reader: RunReader | TableReader, path: Path) -> bool:
    with READERS.calling(name, f"for {path}"):
        return reader.wrote(path)
