"""The lines of a sample file to arrays, one line at a time, and the scores that follow from them."""

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from afrieval._util.errors import UserError
from afrieval.results.cell_scores import OF_LINES, CellScores
from afrieval.results.derived import USUAL, names_of, nested_fields, of_groups, with_derived, with_groups
from afrieval.results.document_columns import Labels, Values, array_of, shared
from afrieval.results.identity import selection
from afrieval.results.samples import DROPPED, REDO, Sample, named_file
from afrieval.results.schema import Declared
from afrieval.results.usage import usage_of
from afrieval.scoring.base import Metric
from afrieval.scoring.learned import is_learned, learned
from afrieval.scoring.metrics import metric

Place = tuple[int, Any, Any]  # of a document, what the sample shows under the metric's name, its measure
Flat = list[Any]  # places one after the other: a million tuples would keep the garbage collector busy


class Columns:
    """What lines say of the documents that were scored."""

    def __init__(self, fields: Iterable[str] = (), sent: bool = False):
        self.rows = 0
        self.sampled = False  # whether rows have ranks in the order of samples
        self.numbers: dict[str, list[Any]] = {name: [] for name in OF_LINES}
        self.ids = self.numbers["ids"]
        self.defects: list[int] = []
        self.keys: list[str | None] = []
        self.parts: list[str | None] = []
        self.fields: dict[str, list[str]] = {name: [] for name in fields}
        self.sent: dict[str, list[int]] | None = {} if sent else None
        self.metrics: dict[str, Flat] = {}
        self.usage = Counter[str]()  # what answers took, as far as their backend tells
        self.kept_shares: list[float] = []  # shares of the texts of shortened prompts
        self.examples: list[int] = []  # their number in prompts with fewer than asked for
        self.lengths: tuple[int, ...] = ()  # of the first document's choices

    def add(self, line: Sample) -> None:
        """Takes what is kept of the next line."""
        row, index, get = line["doc_id"], len(self.ids), line.get
        self.rows += 1
        self.sampled = "sample_rank" in line
        if line["defect"]:
            self.defects.append(row)
        if not line["metrics"]:
            return
        self.lengths = self.lengths or _lengths(line)
        for name, column in OF_LINES.items():
            self.numbers[name].append(column.of(line))
        self.keys.append(get("key"))
        self.parts.append(get("part"))
        fitted = get("fitted", {})
        self.examples += [shown for name, (shown, *_) in fitted.items() if name == DROPPED]
        self.usage.update(usage_of(get("details", {})))
        if thought := get("thought"):
            self.usage[f"thought_{thought}"] += 1
        self.kept_shares += [kept / max(of, 1) for name, (kept, of, *_) in fitted.items() if name != DROPPED]
        measures = get("measures", {})
        for name in line["metrics"]:
            if name not in self.metrics:
                self.metrics[name] = []
            self.metrics[name] += index, get(name), measures.get(name)
        if self.fields:
            self._add_fields(line.get("doc"))
        if self.sent is not None:
            for name, number in sent_hashes(line).items():
                self.sent.setdefault(name, []).append(number)

    def _add_fields(self, document: object) -> None:
        """Keeps the fields that all documents have; there are none where documents were not stored."""
        for name in list(self.fields):
            if isinstance(document, dict) and name in document:
                self.fields[name].append(str(document[name]))
            else:
                del self.fields[name]

    def measures(self, metrics: Mapping[str, Metric], where: str) -> dict[str, tuple[Metric, Values]]:
        """Returns each metric with its measures; the main one first."""
        measured = {}
        for name, flat in self.metrics.items():
            try:
                known_metric = metrics.get(name) or (learned(name) if is_learned(name) else metric(name))
            except UserError as e:
                raise UserError(f"{where}: {e.message}", "a newer version wrote it; read it with that one") from None
            measured[name] = known_metric, self._measured(known_metric, name, flat, where)
        if measured and np.isnan(next(iter(measured.values()))[1]).any():
            raise UserError(f"{where}: not all samples have {next(iter(self.metrics))}, the cell's score", REDO)
        return measured

    def _measured(self, metric: Metric, name: str, flat: Flat, where: str) -> Values:
        indices, shown, stored = flat[::3], flat[1::3], flat[2::3]
        if (measured := _shares(metric, shown, stored)) is None:
            entries = zip(indices, shown, stored, strict=True)
            rows = [self._measure(metric, name, place, where) for place in entries]
            if len({len(row) for row in rows}) > 1:
                raise UserError(f"{where}: not all samples have as many measures of {name}", REDO)
            measured = np.array(rows, dtype=np.float64)
            try:
                measured = metric.apply_cell_normalisation(measured)
                metric.score(measured, np.ones((1, len(measured))))
            except (ValueError, IndexError):  # there may be fewer
                problem = f"{name} cannot be computed from its measures, {len(rows[0])} per sample"
                raise UserError(f"{where}: {problem}", REDO) from None
        if len(measured) == len(self.ids):
            return measured
        values = np.full((len(self.ids), measured.shape[1]), np.nan)
        values[indices] = measured
        return values

    def _measure(self, metric: Metric, name: str, entry: Place, where: str) -> list[float]:
        index, shown, stored = entry
        low, high = metric.bounds
        allowed = f"a number from {low:g} to {high:g}" if metric.is_stored else "a number or a list of numbers"
        problem = f"{name} must be {allowed}, not {shown!r}"
        try:
            measure = _numbers(stored)
            if not metric.is_stored or (measure == [shown] and low <= measure[0] <= high):
                return measure
            if measure != [shown]:
                problem = f"{name} is {shown!r}, and its measure {measure}"
        except (TypeError, ValueError):
            pass  # named below
        raise UserError(f"{where}, line {self.ids[index] + 1}: {problem}", REDO)

    def in_groups(self, groups: Mapping[str, Mapping[str, list[str]]]) -> dict[str, NDArray[np.bool_]]:
        """Returns whether each document is in a group, of those whose fields all documents have.

        Args:
            groups: name to fields, with the values that documents of the group have there.
        """
        return {
            name: np.all([np.isin(self.fields[field], values) for field, values in fields.items()], axis=0)
            for name, fields in groups.items()
            if all(self.fields.get(field) for field in fields)
        }

    def of_cell(self, declared: Declared, language: str) -> dict[str, Any]:
        """Returns the fields of a `CellScores` that need no metric; arrays that other cells have, too, are shared."""
        parts = _labels(self.parts)
        fields = {field: labels for field, of in self.fields.items() if (labels := _labels(of))}
        sent = {what: of for what, of in (self.sent or {}).items() if len(of) == len(self.ids)}
        keys = (key or f"{language} {row}" for row, key in zip(self.ids, self.keys, strict=True))
        return {
            **{name: shared(array_of(OF_LINES[name], values)) for name, values in self.numbers.items()},
            "rows": self.rows,
            "selection": selection(self.rows, declared.get("test_set", {}).get(language, 0), self.sampled),
            "defects": shared(np.array(self.defects, dtype=np.int64)),
            "keys": shared(np.array([_number(key) for key in keys])) if any(self.keys) else None,
            "parts": parts,
            "fields": {
                name: replace(of, codes=shared(of.codes)) for name, of in with_groups(fields, declared, parts).items()
            },
            "request_hashes": {what: np.array(numbers, dtype=np.int64) for what, numbers in sent.items()},
            "kept_shares": tuple(self.kept_shares),
            "usage": self.usage,
            "fewer_examples": tuple(self.examples),
            "lengths": self.lengths if declared.get("labels") else (),
        }


def _labels(texts: Sequence[str | None]) -> Labels | None:
    """Returns a text per document as codes; None if no document has one. An empty text is none."""
    names = sorted({text for text in texts if text})
    codes = {name: code for code, name in enumerate(names)}
    return Labels(shared(np.array([codes.get(text or "", -1) for text in texts])), tuple(names)) if names else None


def _lengths(line: Sample) -> tuple[int, ...]:
    """Returns how long the choices are: in tokens, or in characters if the backend did not count; none of texts."""
    answers = [answer[0] for answer in line.get("resps", ())]
    if any(isinstance(answer, str) for answer in answers):
        return ()
    if all(len(answer) > 2 and isinstance(answer[2], int) and answer[2] for answer in answers):
        return tuple(answer[2] for answer in answers)
    return tuple(map(len, continuations(line))) if line.get("arguments") else ()


def _shares(metric: Metric, shown: Flat, stored: Flat) -> Values | None:
    """Returns the measures of a mean, shape (n, 1), if nothing is wrong with any; there may be a million."""
    if not metric.is_stored or not set(map(type, shown)) <= {float, int}:
        return None
    if any(measure != [value] for value, measure in zip(shown, stored, strict=True)):
        return None
    values = np.array(shown, dtype=np.float64)
    low, high = metric.bounds
    return values[:, None] if np.all((values >= low) & (values <= high) & np.isfinite(values)) else None


def _numbers(values: Any) -> list[float]:
    """Returns a measure, if it is a list of finite numbers."""
    if not isinstance(values, list) or not values:
        raise TypeError
    for value in values:
        if (type(value) is not float and type(value) is not int) or not -1e300 < value < 1e300:
            raise TypeError
    return values


@lru_cache(maxsize=100_000)
def _number(key: str) -> int:
    """Returns a number for a text: 64 bits of a hash, so that no two keys of a task will share one."""
    return int.from_bytes(hashlib.blake2b(key.encode(), digest_size=8).digest(), signed=True)


def sent_hashes(line: Sample) -> dict[str, int]:
    """Returns hashes of the document, the prompt and the answers asked for; every run stores the first two."""
    hashes = {"data": "doc_hash", "prompt text": "prompt_hash"}
    sent = {what: _number(line[name]) for what, name in hashes.items() if name in line}
    if line.get("arguments"):
        sent["answers asked for"] = _number(json.dumps(continuations(line), sort_keys=True))
    return sent


def continuations(sample: Sample) -> list[Any]:
    """Returns what the arguments have after each context; runs of ours, and older ones of the harness, have lists."""
    requests = sample["arguments"]
    pairs = requests.values() if isinstance(requests, dict) else requests
    return [pair["arg_1"] if isinstance(pair, dict) else pair[min(1, len(pair) - 1)] for pair in pairs]


# Keys of what run.yaml declares that samples are read by.
READ_BY = ("breakdowns", "groups", "grouped_fields", "macro", "metrics", "labels", "derived")


def cell_scores(
    name: str,
    lines: Iterable[Sample],
    declared: Declared | None = None,
    path: Path | None = None,
    sent: bool = False,
    reference: Mapping[str, CellScores] | None = None,
) -> CellScores:
    """Returns the scores of a cell of our own tasks.

    Raises:
        UserError: naming the line whose score cannot be.
    """
    declared = declared or Declared()
    groups, derived = declared.get("groups", {}), declared.get("derived", USUAL)
    named = [*declared.get("breakdowns", []), *nested_fields(declared), *chain(*groups.values())]
    columns = Columns(dict.fromkeys(named), sent)
    for line in lines:
        columns.add(line)
    declared_metrics = {of.name: of for of in map(metric, declared.get("metrics", []))}
    measured = columns.measures(declared_metrics, named_file(path)[0] if path else name)
    in_groups = of_groups(measured, columns.in_groups(groups), derived)
    others = {
        folder: {of: (known, cell.measures[of]) for of, known in cell.metrics.items()}
        for folder, cell in (reference or {}).items()
    }
    with_all = with_derived(measured | in_groups, derived, others)
    return CellScores(
        name=name,
        task=line["task"],
        language=line["language"],
        prompt_language=line["prompt_language"],
        prompt=line["prompt"],
        metrics={of: known for of, (known, _) in with_all.items()},
        measures={of: values for of, (_, values) in with_all.items()},
        **columns.of_cell(declared, line["language"]),
        declared=declared,
        path=path,
        of_groups=frozenset(in_groups),
        derived={of: names_of(spec) for of, spec in derived.items() if of in with_all},
        contrast=by_prompts if (by_prompts := declared.get("contrast", "")) in list(with_all)[1:] else "",
    )
