"""Reads some lines of a sample file, whose scores were read before: the others are not parsed."""

from collections.abc import Iterable
from pathlib import Path

from afrieval.errors import UserError
from afrieval.files.schema import checked_line
from afrieval.results.packed import content
from afrieval.results.samples import REDO, Sample
from afrieval.results.schema import SampleLine


def read_rows(path: Path, rows: Iterable[int]) -> dict[int, Sample]:
    """Returns the samples of some rows of a cell of our own tasks, in the order of the file.

    Args:
        path: the sample file, which may be packed.
        rows: numbers of documents, which the file has.

    Raises:
        UserError: if the file cannot be read or has changed since its scores were read.
    """
    wanted, found = set(rows), {}
    lines = (line for line in content(path, REDO).split(b"\n") if line)
    for row, line in enumerate(lines):
        if row in wanted:
            sample = found[row] = checked_line(SampleLine, line, f"{path}, line {row + 1}", REDO)
            if sample["doc_id"] != row:
                raise UserError(f"{path} has changed: its line {row + 1} is of document {sample['doc_id']}", REDO)
    if missing := wanted - found.keys():
        raise UserError(f"{path} has changed: it has no document {min(missing)}", REDO)
    return found
