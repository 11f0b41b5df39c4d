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
    lines = [line for line in content(path, REDO).split(b"\n") if line]
    sampled = any(b'"sample_rank":' in line for line in lines[:1])  # a quotation mark inside a text is escaped
    for number, line in enumerate(lines):
        if sampled or number in wanted:
            sample = checked_line(SampleLine, line, f"{path}, line {number + 1}", REDO)
            if sample["doc_id"] != number and not sampled:
                raise UserError(f"{path} has changed: its line {number + 1} is of document {sample['doc_id']}", REDO)
            if sample["doc_id"] in wanted:
                found[sample["doc_id"]] = sample
    if missing := wanted - found.keys():
        raise UserError(f"{path} has changed: it has no document {min(missing)}", REDO)
    return found
