"""Writes runs as tidy tables in CSV or Parquet: scores, metrics, samples, settings."""

import csv
import io
import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from operator import itemgetter, methodcaller
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from afrieval._util.whole_files import written_whole
from afrieval.exchange.stored_runs import StoredRun, unicode_text
from afrieval.report.formats import safe
from afrieval.results.cell_scores import CellScores
from afrieval.results.run_folder import cell_lines
from afrieval.results.sample_columns import continuations
from afrieval.results.samples import Sample, is_unparsed
from afrieval.results.score_row import CELL, KEY, METRIC, SCORE, DescribedColumn, Kind, Row, ScoreColumn, stored_row
from afrieval.scoring.learned import JUDGED, RATINGS
from afrieval.tasks.cells.sample_lines import prompt_of

RunColumn, SampleColumn = DescribedColumn[StoredRun], DescribedColumn[Sample]


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


def _index(name: str) -> Callable[[Sample], int | None]:
    return lambda line: index if type(index := line.get(name)) is int else None


def _prompt(line: Sample) -> str | None:
    requests = line.get("arguments")
    return prompt_of(line) if requests and len(requests[0]) > 1 else None


def _choices(line: Sample) -> list[str] | None:
    document = line.get("doc")
    choices = document.get("choices") if isinstance(document, dict) else None
    return [str(choice) for choice in choices] if choices else None


def _output(line: Sample) -> str | None:
    answers = line["resps"]
    return answers[0][0] if answers and isinstance(answers[0][0], str) else None


def _continuations(line: Sample) -> list[str] | None:
    requests = line.get("arguments")
    return list(map(str, continuations(line))) if requests and _output(line) is None else None


def _likelihoods(line: Sample) -> list[float] | None:
    if not line["resps"] or _output(line) is not None:
        return None
    answers = [answer[0] for answer in line["resps"]]
    return [float(answer[0] if isinstance(answer, list) else answer) for answer in answers]


def _judged(line: Sample) -> str | None:
    return as_text({name: judgement.get("level") for name, judgement in line.get(JUDGED, {}).items()} or None)


DOCUMENT = [
    SampleColumn("doc_id", "whole", "row in the data set", itemgetter("doc_id")),
    SampleColumn("sample_rank", "whole", "place in the order of samples, if the run has a sample", _get("sample_rank")),
    SampleColumn("scored", "truth", "whether it has a score", lambda line: bool(line["metrics"])),
    SampleColumn(
        "defect", "text", "what is wrong with the row, if anything is known", lambda line: line["defect"] or None
    ),
    SampleColumn("fewshot_ids", "wholes", "rows of the examples", _get("fewshot_ids")),
    SampleColumn("prompt_text", "text", "prompt as sent, with examples and chat template", _prompt),
    SampleColumn("choices", "texts", "choices in the data", _choices),
    SampleColumn("continuations", "texts", "continuations that were scored", _continuations),
    SampleColumn("likelihoods", "numbers", "their log-likelihoods", _likelihoods),
    SampleColumn("output", "text", "generated text", _output),
    SampleColumn("answer", "text", "answer that was extracted from it; of choices the number, from 0", _text("answer")),
    SampleColumn(
        "unparsed",
        "truth",
        "whether none was found",
        lambda line: is_unparsed(line) if line["metrics"] and not line.get("roles") else None,
    ),
    SampleColumn("target", "text", "right answer", _text("target")),
    SampleColumn("gold", "whole", "right choice, counted from 0", _index("gold")),
    SampleColumn("picked", "whole", "chosen choice, counted from 0", _index("picked")),
    SampleColumn("judged", "text", "level that each judge gave to the answer, as a JSON object", _judged),
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


def score_rows(runs: Iterable[StoredRun]) -> Iterator[Row]:
    """Yields a row per cell."""
    for run in runs:
        for cell in run.cells:
            yield stored_row(NAME, run) | stored_row([*KEY, METRIC, *SCORE, *CELL], cell) | stored_row(VISIT, run)


def metric_rows(runs: Iterable[StoredRun]) -> Iterator[Row]:
    """Yields a row per cell and metric."""
    for run in runs:
        for cell in run.cells:
            for scored in map(cell.with_metric, cell.metrics):
                row = stored_row([*KEY, METRIC, *SCORE, *SCALE], scored)
                yield stored_row(NAME, run) | row | {MAIN: scored.main == cell.main}


def sample_rows(runs: list[StoredRun]) -> Iterator[Row]:
    """Yields a row per document of each cell, scored or not."""
    kinds = measured(cell for run in runs for cell in run.cells)
    for run in runs:
        for cell in run.cells:
            assert cell.folder
            key, measures = stored_row(NAME, run) | stored_row(KEY, cell), _measures(cell, kinds)
            for line in cell_lines(cell.folder, cell.name):
                yield key | stored_row(DOCUMENT, line) | (next(measures) if line["metrics"] else {})


def _measures(cell: CellScores, kinds: Mapping[str, Kind]) -> Iterator[Row]:
    lists = {f"{MEASURE}{name}": cell.measures[name].tolist() for name in _stored_metrics(cell)}
    for index in range(cell.n):
        rows = {name: [v if math.isfinite(v) else None for v in values[index]] for name, values in lists.items()}
        yield {name: row if kinds[name] == "numbers" else row[0] for name, row in rows.items()}


def setting_rows(runs: Iterable[StoredRun]) -> Iterator[Row]:
    """Yields a row per value of run.yaml, as JSON, under its dotted name."""
    for run in runs:
        for pair in _flat(run.record):
            yield stored_row(NAME, run) | stored_row(SETTING, pair)


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


class Tidy(NamedTuple):
    """A table whose rows are made one at a time."""

    name: str
    columns: Mapping[str, Kind]
    rows: Iterator[Row]


def write_tidy(runs: list[StoredRun], folder: Path, form: str) -> list[Path]:
    """Writes the tables of runs to a folder, and returns their files."""
    tables = [
        Tidy("scores", SCORES, score_rows(runs)),
        Tidy("metrics", METRICS, metric_rows(runs)),
        Tidy("samples", SAMPLES | measured(cell for run in runs for cell in run.cells), sample_rows(runs)),
        Tidy("settings", SETTINGS, setting_rows(runs)),
    ]
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for table in tables:
        paths.append(folder / f"{table.name}.{form}")
        with written_whole(paths[-1]) as file:
            WRITERS[form](file, table)
    return paths


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
        remaining = iter(table.rows)
        while rows := list(islice(remaining, ROWS_AT_ONCE)):
            records = [{name: _valid(row.get(name)) for name in table.columns} for row in rows]
            writer.write_table(pa.Table.from_pylist(records, schema))


def _valid(value: Any) -> Any:
    if isinstance(value, list):
        return [_valid(each) for each in value]
    return unicode_text(value) if isinstance(value, str) else value


WRITERS: dict[str, Callable[[BinaryIO, Tidy], None]] = {"csv": _write_csv, "parquet": _write_parquet}
