"""Runs as tidy tables in CSV or Parquet: scores, metrics, samples, settings. docs/exchange.md describes the columns."""

import csv
import io
import json
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from afrieval.exports.columns import METRICS, SAMPLES, SCORES, SETTINGS, Kind, measured
from afrieval.exports.rows import Row, metric_rows, sample_rows, score_rows, setting_rows
from afrieval.exports.runs import StoredRun
from afrieval.exports.texts import unicode_text
from afrieval.files.whole import written_whole
from afrieval.report.formats import safe

ROWS_AT_ONCE = 5_000  # of a Parquet file; texts of a million rows would fill the memory


class Tidy(NamedTuple):
    """A table whose rows are made one at a time."""

    name: str
    columns: dict[str, Kind]
    rows: Iterator[Row]


def write_tidy(runs: list[StoredRun], folder: Path, form: str) -> list[Path]:
    """Writes the tables of runs to a folder, and returns their files.

    Args:
        runs: the runs.
        folder: is made if it is missing.
        form: one of `WRITERS`.
    """
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for table in _tables(runs):
        paths.append(folder / f"{table.name}.{form}")
        with written_whole(paths[-1]) as file:
            WRITERS[form](file, table)
    return paths


def _tables(runs: list[StoredRun]) -> list[Tidy]:
    cells = [cell for run in runs for cell in run.cells]
    return [
        Tidy("scores", SCORES, score_rows(runs)),
        Tidy("metrics", METRICS, metric_rows(runs)),
        Tidy("samples", SAMPLES | measured(cells), sample_rows(runs)),
        Tidy("settings", SETTINGS, setting_rows(runs)),
    ]


def _write_csv(file: BinaryIO, table: Tidy) -> None:
    text = io.TextIOWrapper(file, encoding="utf-8", newline="", write_through=True)
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(safe(name) for name in table.columns)
    writer.writerows([_cell(row.get(name)) for name in table.columns] for row in table.rows)
    text.detach()


def _cell(value: Any) -> Any:
    """Returns a value as CSV has it: lists as JSON, texts in one line and no formulas, and nothing for None."""
    if isinstance(value, list):
        return safe(json.dumps(value, ensure_ascii=False))
    return "" if value is None else safe(value)


def _write_parquet(file: BinaryIO, table: Tidy) -> None:
    import pyarrow as pa
    from pyarrow.parquet import ParquetWriter

    types = {
        "text": pa.string(),
        "number": pa.float64(),
        "whole": pa.int64(),
        "truth": pa.bool_(),
        "texts": pa.list_(pa.string()),
        "numbers": pa.list_(pa.float64()),
        "wholes": pa.list_(pa.int64()),
    }
    schema = pa.schema([(name, types[kind]) for name, kind in table.columns.items()])
    with ParquetWriter(file, schema, compression="zstd") as writer:
        for rows in _batches(table.rows):
            known = [{name: _valid(row.get(name)) for name in table.columns} for row in rows]
            writer.write_table(pa.Table.from_pylist(known, schema))


def _batches(rows: Iterable[Row]) -> Iterator[list[Row]]:
    every = iter(rows)
    while batch := list(islice(every, ROWS_AT_ONCE)):
        yield batch


def _valid(value: Any) -> Any:
    if isinstance(value, list):
        return [_valid(each) for each in value]
    return unicode_text(value) if isinstance(value, str) else value


WRITERS: dict[str, Callable[[BinaryIO, Tidy], None]] = {"csv": _write_csv, "parquet": _write_parquet}
