"""Reads a run folder: each sample file once, however many ask for it."""

import contextlib
import os
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import chain
from pathlib import Path

from afrieval._util.errors import UserError
from afrieval._util.files import user_path
from afrieval._util.schema import checked_line
from afrieval.results.cell_scores import CellScores, MetricCount
from afrieval.results.identity import selection
from afrieval.results.packed import is_packed, opened_samples, source
from afrieval.results.run_files import RUN, cell_names, harness_path, read_harness, read_run, sample_path
from afrieval.results.sample_columns import READ_BY, cell_scores
from afrieval.results.samples import REDO, Sample, bounded_lines, cell_name, is_harness, named_file, read_lines
from afrieval.results.schema import Declared, HarnessRecord, RunRecord, SampleLine
from afrieval.results.usage import usage_of

Signature = tuple[int, ...]


class RunFolder:
    """A run folder, whose files are read when they are asked for, and again only if they have changed.

    Args:
        path: the folder.
        sent: whether scores have hashes of what was sent to the model.
        halfway: whether the answers may have been scored again in part only.
    """

    def __init__(self, path: Path, sent: bool = False, halfway: bool = False):
        self.path = path
        self._halfway = halfway
        self._sent = sent
        self._record: tuple[Signature, RunRecord] | None = None
        self._cells: dict[str, tuple[Signature, CellScores]] = {}

    @property
    def names(self) -> list[str]:
        """The cells that are stored, sorted by sample file."""
        return cell_names(self.path)

    @property
    def record(self) -> RunRecord:
        """What run.yaml says; empty if there is none yet."""
        signature = _signature(self.path / RUN)
        if self._record is None or self._record[0] != signature:
            self._record = signature, read_run(self.path, self._halfway)
        return self._record[1]

    def scores(self, name: str) -> CellScores:
        """Returns the scores of a cell, of our own tasks or of the harness'.

        Raises:
            UserError: if a file of the cell is damaged, lacks a document or holds another cell.
        """
        signature = _signature(source(sample_path(self.path, name)), harness_path(self.path, name))
        before, cell = self._cells.get(name, (None, None))
        declared = self._declared(cell.task) if cell else Declared()
        if cell is None or before != signature or any(cell.declared.get(of) != declared.get(of) for of in READ_BY):
            self._cells[name] = signature, (cell := self._read(name))
            declared = self._declared(cell.task)
        sizes = declared.get("test_set", {})  # run.yaml may have changed since the cell was read
        test_set = cell.harness.get("test_set", 0) if cell.harness else sizes.get(cell.language, 0)
        selected = selection(cell.rows, test_set, cell.selection.kind == "sample")
        return replace(cell, declared=declared, selection=selected)

    def _declared(self, task: str) -> Declared:
        return self.record.get("declared", {}).get(task, Declared())

    def has(self, name: str, n: int) -> bool:
        """Returns whether so many documents of a cell are stored, with all that belongs to them.

        It counts lines; they are checked only if some are missing, and never scored.
        """
        path = sample_path(self.path, name)
        if not (os.path.lexists(path) or is_packed(path)):
            return False
        with opened_samples(path, REDO) as file:
            lines = sum(1 for line in bounded_lines(file) if line.strip())
        if name not in self.record.get("identity", {}).get("harness_tasks", {}):
            return lines >= n or sum(1 for _ in self.lines(name)) >= n
        if not harness_path(self.path, name).exists():
            return False
        stored = read_harness(self.path, name)
        filters = {metric["filter"] for metric in stored["metrics"]}
        return stored["n"] >= n and lines == stored["n"] * max(len(filters), 1)

    def lines(self, name: str) -> Iterator[Sample]:
        """Yields a cell's samples, whole and in order, without computing scores."""
        return cell_lines(self.path, name)

    def samples(self, name: str) -> list[Sample]:
        """Returns a cell's samples, after checking that their scores can be computed."""
        samples = list(self.lines(name))
        self._read(name, samples)
        return samples

    def scored(self, name: str, lines: Iterable[Sample], declared: Declared) -> CellScores:
        """Returns the scores of a cell with other samples and another declaration than the folder has."""
        folders = {spec.get("reference") for spec in declared.get("derived", {}).values()}
        reference = {folder: RunFolder(user_path(folder)).scores(name) for folder in folders if folder}
        path = sample_path(self.path, name)
        return cell_scores(name, lines, declared, path, self._sent, reference)

    def _read(self, name: str, lines: Iterable[Sample] | None = None) -> CellScores:
        """Returns the scores of a cell by its files, or by its lines as they were read."""
        rest = iter(self.lines(name) if lines is None else lines)
        first = next(rest)
        whole = chain([first], rest)
        if is_harness(first):
            return harness_scores(read_harness(self.path, name), whole, sample_path(self.path, name))
        return self.scored(name, whole, self._declared(first["task"]))


def cell_lines(folder: Path, name: str) -> Iterator[Sample]:
    """Yields the samples of a cell, whole and in order; once for each filter of a harness task.

    Raises:
        UserError: if the file is damaged, lacks a document or holds another cell.
    """
    path = sample_path(folder, name)
    where, cure = named_file(path)
    # Ranks of the lines by filter; in a sample, by the order of samples.
    ranks_by_filter: dict[str | None, list[int]] = {}
    latest: dict[str | None, int] = {}
    for number, line in enumerate(read_lines(path), 1):
        filter_name = line["filter"] if line["prompt"] == "" else None
        ranks = ranks_by_filter.setdefault(filter_name, [])
        expected = len(ranks) if "sample_rank" not in line else max(line["doc_id"], latest.get(filter_name, -1) + 1)
        if line["doc_id"] != expected or cell_name(line) != name:
            raise UserError(f"{where}, line {number}, is not what a run of {name} wrote", cure)
        ranks.append(line.get("sample_rank", expected))
        latest[filter_name] = expected
        yield line
    if len({len(ranks) for ranks in ranks_by_filter.values()}) > 1 or any(
        sorted(of) != [*range(len(of))] for of in ranks_by_filter.values()
    ):
        raise UserError(f"{where} is not what a run of {name} wrote", cure)


def harness_scores(record: HarnessRecord, lines: Iterable[Sample], path: Path | None = None) -> CellScores:
    """Returns what the harness says of a task of its own, and how its samples scored."""
    scores: dict[tuple[str, str], list[object]] = {(m["metric"], m["filter"]): [] for m in record["metrics"]}
    rows, latest, sampled, usage = 0, -1, False, Counter[str]()
    for line in lines:
        if line["doc_id"] > latest:  # the lines of other filters have the same
            rows, latest, sampled = rows + 1, line["doc_id"], "sample_rank" in line
            usage.update(usage_of(line.get("details", {})))
        for (name, filter_name), values in scores.items():
            if line["filter"] == filter_name and name in line:
                values.append(line[name])
    counts = []
    for metric in record["metrics"]:
        values = scores[metric["metric"], metric["filter"]]
        right = sum(map(float, values)) if values and all(value in (0, 1) for value in values) else None  # type: ignore[arg-type]
        counts.append(MetricCount(len(values), right))
    return CellScores(
        name=record["task"],
        task=record["task"],
        language=record["language"],
        prompt_language="",
        prompt=0,
        rows=rows,
        selection=selection(rows, record.get("test_set", 0), sampled),
        path=path,
        harness=record,
        usage=usage,
        harness_counts=tuple(counts),
    )


def _signature(*paths: Path) -> Signature:
    """Returns what changes when one of the files is written again; nothing for files that are not there."""
    parts: list[int] = []
    for path in paths:
        with contextlib.suppress(OSError):
            stat = os.stat(path)  # noqa: PTH116
            parts += [stat.st_ino, stat.st_size, stat.st_mtime_ns]
    return tuple(parts)


def read_rows(path: Path, rows: Iterable[int]) -> dict[int, Sample]:
    """Returns the samples of some rows of a cell of our own tasks, in the order of the file.

    Raises:
        UserError: if the file cannot be read or has changed since its scores were read.
    """
    remaining, samples = set(rows), {}
    with opened_samples(path, REDO) as file:
        for number, line in enumerate(line for line in bounded_lines(file) if line != b"\n"):
            if number == 0:
                sampled = b'"sample_rank":' in line  # a quotation mark inside a text is escaped
            if sampled or number in remaining:
                sample = checked_line(SampleLine, line, f"{path}, line {number + 1}", REDO)
                if sample["doc_id"] != number and not sampled:
                    problem = f"{path} has changed: its line {number + 1} is of document {sample['doc_id']}"
                    raise UserError(problem, REDO)
                if sample["doc_id"] in remaining:
                    samples[sample["doc_id"]] = sample
    if missing := remaining - samples.keys():
        raise UserError(f"{path} has changed: it has no document {min(missing)}", REDO)
    return samples
