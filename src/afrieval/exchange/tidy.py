"""Writes runs as tidy tables in CSV or Parquet: scores, metrics, samples, settings."""

import csv
import io
import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO, Literal, NamedTuple, cast

from afrieval._util.whole_files import written_whole
from afrieval.exchange.stored_runs import StoredRun, unicode_text
from afrieval.report.formats import safe
from afrieval.results.cell_scores import CellScores
from afrieval.results.run_folder import cell_lines
from afrieval.results.sample_columns import continuations
from afrieval.results.samples import Sample, is_unparsed
from afrieval.scoring.labels import GUESSED, NOT_PARSED, REFUSED
from afrieval.scoring.learned import JUDGED, RATINGS
from afrieval.tasks.cells.sample_lines import prompt_of

Kind = Literal["text", "number", "whole", "truth", "texts", "numbers", "wholes"]
Columns = dict[str, Kind]


def _columns(names: str) -> Columns:
    """Returns columns by name; `name` has texts, and `name:kind` another kind of values."""
    return {name: cast(Kind, kind or "text") for name, _, kind in (each.partition(":") for each in names.split())}


PLACE = _columns("run model task language prompt_language prompt shots:whole answer_form")
SCORE = _columns("score:number standard_error:number low:number high:number n:whole looks:whole")
SCORES = PLACE | _columns("metric") | SCORE
SCORES |= _columns("rows:whole selection sample_rows:truth test_set:whole n_defect:whole chance:number")
SCORES |= _columns("unparsed:number refused:number guessed:number data_set data_hash prompt_hash task_version:whole")
SCORES |= _columns("variant fewshot_selection fewshot_seed:whole max_gen_toks:whole chat_template:truth dtype suite")
SCORES |= _columns("date afrieval lm_eval")
METRICS = PLACE | _columns("metric main:truth") | SCORE
METRICS |= _columns("higher_is_better:truth lowest:number highest:number")
SAMPLES = PLACE | _columns("doc_id:whole sample_rank:whole scored:truth defect fewshot_ids:wholes prompt_text")
SAMPLES |= _columns("choices:texts continuations:texts likelihoods:numbers output answer unparsed:truth target")
SAMPLES |= _columns("gold:whole picked:whole judged ratings doc_hash prompt_hash target_hash")
SETTINGS = _columns("run setting value")
MEASURE = "measure "  # begins the columns of measures, which are named by metrics


def measured(cells: Iterable[CellScores]) -> Columns:
    """Returns a column for each metric of documents: a number, or several where some cell has several."""
    widths: dict[str, int] = {}
    for cell in cells:
        for name in _stored_metrics(cell):
            widths[name] = max(widths.get(name, 1), cell.measures[name].shape[1])
    return {f"{MEASURE}{name}": "number" if width == 1 else "numbers" for name, width in widths.items()}


def _stored_metrics(cell: CellScores) -> list[str]:
    """Returns the metrics that documents have measures of; others are derived, or of groups of documents."""
    return [name for name in cell.metrics if name not in cell.derived and name not in cell.of_groups]


Row = dict[str, Any]


def finite(value: float) -> float | None:
    """Returns a number; None if it is not finite."""
    return float(value) if math.isfinite(value) else None


def sample_rows(runs: list[StoredRun]) -> Iterator[Row]:
    """Yields a row per document of each cell, scored or not."""
    columns = measured(cell for run in runs for cell in run.cells)
    for run in runs:
        for cell in run.cells:
            assert cell.folder
            key, measures = _place(run, cell), _measures(cell, columns)
            for line in cell_lines(cell.folder, cell.name):
                yield key | _sample_row(line) | (next(measures) if line["metrics"] else {})


def setting_rows(runs: Iterable[StoredRun]) -> Iterator[Row]:
    """Yields a row per value of run.yaml, as JSON, under its dotted name."""
    for run in runs:
        for name, value in _flat(run.record):
            yield {"run": run.name, "setting": name, "value": json.dumps(value)}


def _place(run: StoredRun, cell: CellScores) -> Row:
    names = ("model", "task", "language", "prompt_language", "shots", "answer_form")
    return {"run": run.name, **{name: getattr(cell, name) for name in names}, "prompt": str(cell.prompt)}


def _score(cell: CellScores) -> Row:
    low, high = cell.interval or (None, None)
    score, error = finite(cell.score) if cell.n else None, finite(cell.standard_error) if cell.n else None
    row = {"metric": cell.main, "score": score, "standard_error": error, "low": low, "high": high}
    return row | {"n": cell.n, "looks": cell.looks}


def _score_row(run: StoredRun, cell: CellScores) -> Row:
    must, visit = cell.comparable_on, run.visit
    versions = visit.get("versions", {})
    shares = {
        name: cell.with_metric(name).score if name in cell.metrics else None for name in (NOT_PARSED, REFUSED, GUESSED)
    }
    return {
        **_place(run, cell),
        **_score(cell),
        **shares,
        "rows": cell.rows,
        "selection": cell.selection.kind,
        "sample_rows": cell.own_rows,
        "test_set": cell.selection.test_set or None,
        "n_defect": cell.n_defect,
        "chance": finite(cell.chance),
        "data_set": cell.data_set or None,
        "data_hash": must["data"],
        "prompt_hash": must["prompt text"],
        "task_version": must["task version"],
        "variant": must["variant"],
        "fewshot_selection": must["few-shot selection"],
        "fewshot_seed": must["few-shot seed"],
        "max_gen_toks": must["limit of answers"],
        "chat_template": cell.recorded_settings.get("chat_template"),
        "dtype": cell.recorded_settings.get("dtype"),
        "suite": cell.suite or None,
        "date": visit.get("date"),
        "afrieval": versions.get("afrieval"),
        "lm_eval": versions.get("lm-eval"),
    }


def _metric_row(run: StoredRun, cell: CellScores, name: str) -> Row:
    scored = cell.with_metric(name)
    lowest, highest = map(finite, scored.metric.bounds)
    better = scored.metric.higher_is_better
    scale = {"main": name == cell.main, "higher_is_better": better, "lowest": lowest, "highest": highest}
    return {**_place(run, cell), **_score(scored), **scale}


def _sample_row(line: Sample) -> Row:
    answers = [answer[0] for answer in line["resps"]]
    texts = bool(answers) and isinstance(answers[0], str)
    requests, document = line.get("arguments") or [], line.get("doc")
    choices = document.get("choices") if isinstance(document, dict) else None
    likelihoods = None if texts or not answers else [float(of[0] if isinstance(of, list) else of) for of in answers]
    return {
        "doc_id": line["doc_id"],
        "sample_rank": line.get("sample_rank"),
        "scored": bool(line["metrics"]),
        "defect": line["defect"] or None,
        "fewshot_ids": line.get("fewshot_ids"),
        "prompt_text": prompt_of(line) if requests and len(requests[0]) > 1 else None,
        "choices": [str(choice) for choice in choices] if choices else None,
        "continuations": None if texts or not requests else list(map(str, continuations(line))),
        "likelihoods": likelihoods,
        "output": answers[0] if texts else None,
        "answer": as_text(line.get("answer")),
        "unparsed": is_unparsed(line) if line["metrics"] and not line.get("roles") else None,
        "target": as_text(line.get("target")),
        "gold": _index(line.get("gold")),
        "picked": _index(line.get("picked")),
        "judged": as_text({name: of.get("level") for name, of in line.get(JUDGED, {}).items()} or None),
        "ratings": as_text(line.get(RATINGS)),
        **{name: line.get(name) for name in ("doc_hash", "prompt_hash", "target_hash")},
    }


def _measures(cell: CellScores, columns: Columns) -> Iterator[Row]:
    lists = {f"{MEASURE}{name}": cell.measures[name].tolist() for name in _stored_metrics(cell)}
    for index in range(cell.n):
        of_document = {name: list(map(finite, values[index])) for name, values in lists.items()}
        yield {name: of if columns[name] == "numbers" else of[0] for name, of in of_document.items()}


def as_text(value: Any) -> str | None:
    """Returns a value as text: a text as it is, anything else as JSON; None stays None."""
    return value if value is None or isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _index(value: Any) -> int | None:
    return value if type(value) is int else None


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
    columns: dict[str, Kind]
    rows: Iterator[Row]


def write_tidy(runs: list[StoredRun], folder: Path, form: str) -> list[Path]:
    """Writes the tables of runs to a folder, and returns their files."""
    cells = [(run, cell) for run in runs for cell in run.cells]
    tables = [
        Tidy("scores", SCORES, (_score_row(*pair) for pair in cells)),
        Tidy("metrics", METRICS, (_metric_row(run, cell, name) for run, cell in cells for name in cell.metrics)),
        Tidy("samples", SAMPLES | measured(cell for _, cell in cells), sample_rows(runs)),
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
