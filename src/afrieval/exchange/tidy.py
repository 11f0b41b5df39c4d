"""Writes runs as tidy tables in CSV or Parquet: scores, metrics, samples, settings."""

import csv
import io
import itertools
import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from operator import itemgetter, methodcaller
from pathlib import Path
from typing import Any, BinaryIO

from afrieval._util.whole_files import written_whole
from afrieval.exchange.stored_runs import StoredRun, unicode_text
from afrieval.report.formats import safe
from afrieval.results.cell_scores import OF_LINES, CellScores
from afrieval.results.document_columns import DescribedColumn, Kind, Row, SampleColumn, stored_row
from afrieval.results.run_folder import cell_lines
from afrieval.results.sample_columns import continuations
from afrieval.results.samples import Sample, generated_text, is_unparsed, log_likelihoods
from afrieval.results.summary import CELL, KEY, METRIC, SCORE, ScoreColumn
from afrieval.scoring.learned import JUDGED, RATINGS
from afrieval.tasks.cells.sample_lines import prompt_of

RunColumn = DescribedColumn[StoredRun]


def _version(package: str) -> Callable[[StoredRun], Any]:
    return lambda run: run.visit.get("versions", {}).get(package)


NAME = [RunColumn("run", "text", "name of the run folder", lambda run: run.name)]
VISIT = [
    RunColumn("date", "text", "when the run was last continued", lambda run: run.visit.get("date")),
    RunColumn("afrieval", "text", "version of afrieval", _version("afrieval")),
    RunColumn("lm_eval", "text", "version of lm_eval", _version("lm-eval")),
]
SCALE = [
    ScoreColumn("higher_is_better", "truth", "whether a higher score is better", lambda c: c.metric.higher_is_better),
    ScoreColumn("lowest", "number", "lowest score, if there is one", lambda cell: cell.metric.bounds[0]),
    ScoreColumn("highest", "number", "highest score, if there is one", lambda cell: cell.metric.bounds[1]),
]


def as_text(value: Any) -> str | None:
    """Returns a value as text: a text as it is, anything else as JSON; None stays None."""
    return value if value is None or isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _get(name: str) -> Callable[[Sample], Any]:
    return methodcaller("get", name)


def _text(name: str) -> Callable[[Sample], str | None]:
    return lambda line: as_text(line.get(name))


def _prompt(line: Sample) -> str | None:
    requests = line.get("arguments")
    return prompt_of(line) if requests and len(requests[0]) > 1 else None


def _choices(line: Sample) -> list[str] | None:
    document = line.get("doc")
    choices = document.get("choices") if isinstance(document, dict) else None
    return [str(choice) for choice in choices] if choices else None


DOCUMENT = [
    OF_LINES["ids"],
    SampleColumn("sample_rank", "whole", "place in the order of samples, if the run has a sample", _get("sample_rank")),
    SampleColumn("scored", "truth", "whether it has a score", lambda line: bool(line["metrics"])),
    SampleColumn(
        "defect", "text", "what is wrong with the row, if anything is known", lambda line: line["defect"] or None
    ),
    SampleColumn("fewshot_ids", "wholes", "rows of the examples", _get("fewshot_ids")),
    SampleColumn("prompt_text", "text", "prompt as sent, with examples and chat template", _prompt),
    SampleColumn("choices", "texts", "choices in the data", _choices),
    SampleColumn(
        "continuations",
        "texts",
        "continuations that were scored",
        lambda line: (
            list(map(str, continuations(line))) if line.get("arguments") and generated_text(line) is None else None
        ),
    ),
    SampleColumn(
        "likelihoods", "numbers", "their log-likelihoods", lambda line: list(map(float, log_likelihoods(line))) or None
    ),
    SampleColumn("output", "text", "generated text", generated_text),
    SampleColumn("answer", "text", "answer that was extracted from it; of choices the number, from 0", _text("answer")),
    SampleColumn(
        "unparsed",
        "truth",
        "whether none was found",
        lambda line: is_unparsed(line) if line["metrics"] and not line.get("roles") else None,
    ),
    SampleColumn("target", "text", "right answer", _text("target")),
    *(column for name, column in OF_LINES.items() if column.words and name != "ids"),
    SampleColumn(
        "judged",
        "text",
        "level that each judge gave to the answer, as a JSON object",
        lambda line: as_text({name: of.get("level") for name, of in line.get(JUDGED, {}).items()} or None),
    ),
    SampleColumn("ratings", "text", "level that each person gave to the answer, as a JSON object", _text(RATINGS)),
    SampleColumn("doc_hash", "text", "hash of the document", _get("doc_hash")),
    SampleColumn("prompt_hash", "text", "hash of the prompt as sent", _get("prompt_hash")),
    SampleColumn("target_hash", "text", "hash of the target", _get("target_hash")),
]
SETTING = [
    DescribedColumn[tuple[str, Any]]("setting", "text", "dotted name", itemgetter(0)),
    DescribedColumn[tuple[str, Any]]("value", "text", "its JSON", lambda pair: json.dumps(pair[1])),
]
MAIN = "main"  # of a metric: whether it is the main one
MEASURE = "measure "  # begins the columns of measures, which are named by metrics


def _kinds(*columns: DescribedColumn[Any]) -> dict[str, Kind]:
    return {column.name: column.kind for column in columns}


SCORES = _kinds(*NAME, *KEY, METRIC, *SCORE, *CELL, *VISIT)
METRICS = _kinds(*NAME, *KEY, METRIC) | {MAIN: "truth"} | _kinds(*SCORE, *SCALE)
SAMPLES = _kinds(*NAME, *KEY, *DOCUMENT)
SETTINGS = _kinds(*NAME, *SETTING)


def measured(cells: Iterable[CellScores]) -> dict[str, Kind]:
    """Returns a column for each metric of documents: a number, or several where some cell has several."""
    widths: dict[str, int] = {}
    for cell in cells:
        for name in _stored_metrics(cell):
            widths[name] = max(widths.get(name, 1), cell.measures[name].shape[1])
    return {f"{MEASURE}{name}": "number" if width == 1 else "numbers" for name, width in widths.items()}


def _stored_metrics(cell: CellScores) -> list[str]:
    """Returns the metrics that documents have measures of; others are derived, or of groups of documents."""
    return [name for name in cell.metrics if name not in cell.derived and name not in cell.of_groups]


def _samples(cell: CellScores, kinds: Mapping[str, Kind]) -> Iterator[Row]:
    """Yields a row per document of a cell, scored or not, with its measures."""
    assert cell.folder
    lists = {f"{MEASURE}{name}": cell.measures[name].tolist() for name in _stored_metrics(cell)}
    scored = itertools.count()
    for line in cell_lines(cell.folder, cell.name):
        row = stored_row(DOCUMENT, line)
        if line["metrics"]:
            index = next(scored)
            for name, values in lists.items():
                numbers = [v if math.isfinite(v) else None for v in values[index]]
                row[name] = numbers if kinds[name] == "numbers" else numbers[0]
        yield row


def _flat(value: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    """Yields the values in nested maps and lists of maps under their dotted names."""
    entries = value.items() if isinstance(value, Mapping) else enumerate(value)
    for key, each in entries:
        inner = f"{name}.{key}" if name else str(key)
        nested = isinstance(each, Mapping) or (isinstance(each, list) and each and isinstance(each[0], Mapping))
        if nested and each:
            yield from _flat(each, inner)
        else:
            yield inner, each


ROWS_AT_ONCE = 5_000  # of a Parquet file; texts of a million rows would fill the memory
Columns = Mapping[str, Kind]


def write_tidy(runs: list[StoredRun], folder: Path, form: str) -> list[Path]:
    """Writes the tables of runs to a folder, and returns their files; rows are made one at a time."""
    names = [(stored_row(NAME, run), run) for run in runs]
    cells = [(name | stored_row(KEY, cell), run, cell) for name, run in names for cell in run.cells]
    kinds = measured(cell for *_, cell in cells)
    scores = (key | stored_row([METRIC, *SCORE, *CELL], cell) | stored_row(VISIT, run) for key, run, cell in cells)
    metrics = (
        key | stored_row([METRIC, *SCORE, *SCALE], scored) | {MAIN: scored.main == cell.main}
        for key, _, cell in cells
        for scored in map(cell.with_metric, cell.metrics)
    )
    samples = (key | row for key, _, cell in cells for row in _samples(cell, kinds))
    settings = (name | stored_row(SETTING, pair) for name, run in names for pair in _flat(run.record))
    tables: dict[str, tuple[Columns, Iterator[Row]]] = {
        "scores": (SCORES, scores),
        "metrics": (METRICS, metrics),
        "samples": (SAMPLES | kinds, samples),
        "settings": (SETTINGS, settings),
    }
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for name, (columns, rows) in tables.items():
        paths.append(folder / f"{name}.{form}")
        with written_whole(paths[-1]) as file:
            WRITERS[form](file, columns, rows)
    return paths


def _write_csv(file: BinaryIO, columns: Columns, rows: Iterator[Row]) -> None:
    text = io.TextIOWrapper(file, encoding="utf-8", newline="", write_through=True)
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(safe(name) for name in columns)
    for row in rows:
        values = [row.get(name) for name in columns]
        # lists as JSON, texts in one line and no formulas, and nothing for None
        texts = [json.dumps(value, ensure_ascii=False) if isinstance(value, list) else value for value in values]
        writer.writerow("" if value is None else safe(value) for value in texts)
    text.detach()


def _write_parquet(file: BinaryIO, columns: Columns, rows: Iterator[Row]) -> None:
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
    schema = pa.schema([(name, types[kind]) for name, kind in columns.items()])
    with ParquetWriter(file, schema, compression="zstd") as writer:
        while some := list(itertools.islice(rows, ROWS_AT_ONCE)):
            records = [{name: _valid(row.get(name)) for name in columns} for row in some]
            writer.write_table(pa.Table.from_pylist(records, schema))


def _valid(value: Any) -> Any:
    if isinstance(value, list):
        return [_valid(each) for each in value]
    return unicode_text(value) if isinstance(value, str) else value


WRITERS: dict[str, Callable[[BinaryIO, Columns, Iterator[Row]], None]] = {"csv": _write_csv, "parquet": _write_parquet}
