"""Parses plain texts with a row per line, each of which is a column of a table."""

from collections.abc import Mapping
from pathlib import Path

from afrieval.data.tables import Row, decoded
from afrieval.errors import UserError


def parallel_rows(texts: Mapping[str, tuple[Path, bytes]]) -> list[Row]:
    """Returns the rows of parallel texts; an empty line is an empty cell.

    Args:
        texts: column to its file and the file's bytes.

    Raises:
        UserError: if a file is not UTF-8 text, or the files have different numbers of lines.
    """
    columns = {column: _lines(path, content) for column, (path, content) in texts.items()}
    (first, path), *others = ((column, path) for column, (path, _) in texts.items())
    for column, other in others:
        if len(columns[column]) != len(columns[first]):
            raise UserError(
                f"{path} has {len(columns[first])} lines, but {other} has {len(columns[column])}",
                "line n of one must be the translation of line n of the other; download both files again",
            )
    return [dict(zip(columns, cells, strict=True)) for cells in zip(*columns.values(), strict=True)]


def _lines(path: Path, content: bytes) -> list[str]:
    """Returns the lines of a text; other separators, such as U+2028, belong to a line."""
    lines = decoded(path, content).replace("\r\n", "\n").split("\n")
    return lines if lines[-1] else lines[:-1]
