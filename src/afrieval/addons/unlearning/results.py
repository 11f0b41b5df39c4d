"""Reads results of open-unlearning (`*_EVAL.json`) and logs of TOFU's own code as reference runs."""

import math
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np

from afrieval._util.errors import UserError
from afrieval._util.files import read_bytes
from afrieval._util.schema import AT_LEAST_ONE, CLOSED, parsed_json
from afrieval._util.terminal import note
from afrieval._util.yaml_files import read_as
from afrieval.results.cell_key import CellKey
from afrieval.results.cell_scores import CellScores
from afrieval.run.suites.reference import ResultReader, SuiteResults
from afrieval.tasks.declaration.spec import TASKS, load_task

FILE = "open_unlearning.yaml"


@dataclass(frozen=True)
class FileMetric:
    """A metric of documents in a file of results.

    Attributes:
        result: the name of the result that has it.
        value: its value by document; of `among`, the losses of the correct text and of wrong ones.
        part: the part of the result, where it has several.
        form: what makes our number of it: the number itself; `probability`, exp(-loss); or `among`, the probability of
            the correct text divided by the sum of all.
        loss: the name of -log(value) next to it, in files that we write; empty for none.
    """

    __pydantic_config__ = CLOSED

    result: str
    value: str | list[str]
    part: str = ""
    form: Literal["number", "probability", "among"] = "number"
    loss: str = ""


@dataclass(frozen=True)
class OpenUnlearningNames:
    """The content of an open_unlearning.yaml: a suite's metrics as other programs name them.

    Attributes:
        suites: names of the suites; the first is the one that is computed from files.
        evaluator: what open-unlearning's files begin with, as in TOFU_EVAL.json.
        metrics: TASK.METRIC to its place in the files.
        derived: derived metric of the suite to its name in the files.
        logs: TASK.METRIC to its place in an aggregated log of TOFU's own code.
    """

    __pydantic_config__ = CLOSED

    suites: Annotated[list[str], AT_LEAST_ONE]
    evaluator: str
    metrics: dict[str, FileMetric]
    derived: dict[str, str]
    logs: dict[str, FileMetric] = field(default_factory=dict)

    def in_file(self, results: Collection[str]) -> dict[str, FileMetric]:
        """Returns the metrics that a file with these results has."""
        return {
            name: metric
            for metrics in (self.logs, self.metrics)
            for name, metric in metrics.items()
            if metric.result in results
        }


@cache
def all_names() -> list[OpenUnlearningNames]:
    """Returns the content of all open_unlearning.yaml files."""
    return [read_as(OpenUnlearningNames, path) for path in sorted(TASKS.glob(f"*/{FILE}"))]


HINT = "give a run folder, a *_EVAL.json of open-unlearning, or an eval_log_aggregated.json of TOFU"
Values = dict[int, float]  # index of a document to its value; NaN where there is none


def read_results(path: Path) -> SuiteResults:
    """Returns the results of a file as cells in English, with the suite that they are of.

    Raises:
        UserError: if it is not one of the two, or is damaged.
    """
    content = parsed_json(read_bytes(path, HINT), str(path), HINT)
    if not isinstance(content, dict):
        raise UserError(f"{path} has no map of results", HINT)
    names = max(
        all_names(), key=lambda candidate: (path.name.startswith(candidate.evaluator), len(candidate.in_file(content)))
    )
    locations = names.in_file(content)
    if not locations:
        more = "; a summary has no values of documents" if path.name.endswith("_SUMMARY.json") else ""
        raise UserError(f"{path} has no results that a suite has{more}", HINT)
    values_by_task: dict[str, dict[str, Values]] = {}
    for name, location in locations.items():
        task, _, metric = name.partition(".")
        if values := _values(content, location, path):
            values_by_task.setdefault(task, {})[metric] = values
    cells = [_cell(task, of_task, path) for task, of_task in values_by_task.items()]
    return SuiteResults(names.suites[0], cells)


READER = ResultReader("*_EVAL.json", read_results)


def _cell(task: str, values: Mapping[str, Values], path: Path) -> CellScores:
    ids = sorted({index for of_metric in values.values() for index in of_metric})
    measures = {
        name: np.array([[of_metric.get(index, math.nan)] for index in ids]) for name, of_metric in values.items()
    }
    spec, key = load_task(task), CellKey(task, "eng", 1, "eng")
    data, metrics = spec.data, {metric.name: metric for metric in spec.scoring.metrics}
    return CellScores(
        **vars(key),
        name=key.text(),
        metrics={name: metrics[name] for name in values},
        measures=measures,
        ids=np.array(ids, dtype=np.int64),
        rows=len(ids),
        model=path.absolute().parent.name,
        comparable_on={"data": f"{data.hub} {data.evaluate} {data.files}"},  # tasks with the same rows share documents
        path=path,
    )


def _values(content: Mapping[str, Any], location: FileMetric, path: Path) -> Values:
    """Returns the values of a metric by document; those that are missing or not finite are NaN, and a note says so."""
    entry = content[location.result]
    where = f"{path}: {location.result}"
    entry = entry.get(location.part) if location.part and isinstance(entry, dict) else entry
    names = [location.value] if isinstance(location.value, str) else location.value
    number = partial(_number, where)
    if isinstance(entry, dict) and "value_by_index" in entry:
        by_index = entry["value_by_index"] or {}
        entries = {key: [_entry(of, name, where) for name in names] for key, of in _map(by_index, where).items()}
    else:  # TOFU's own: name to document to value
        of_names = [_map(_entry(entry, name, where) or {}, where) for name in names]
        entries = {key: [of.get(key) for of in of_names] for key in of_names[0]}
    if wrong := next((key for key in entries if not re.fullmatch("[0-9]{1,12}", key)), None):
        raise UserError(f"{where} has the index {wrong!r}, which is not a number", HINT)
    numbers = {int(key): FORMS[location.form]([number(value) for value in of]) for key, of in entries.items()}
    if missing := sum(not math.isfinite(value) for value in numbers.values()):
        note(f"{where}: {missing} of {len(numbers)} values are missing or not finite, and are left out")
    return {index: value if math.isfinite(value) else math.nan for index, value in numbers.items()}


def _map(value: Any, where: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise UserError(f"{where} has no values by index", HINT)
    return value


def _entry(entries: Any, name: str, where: str) -> Any:
    if entries is None:
        return None
    if not isinstance(entries, dict):
        raise UserError(f"{where} has no {name}", HINT)
    return entries.get(name)


def _number(where: str, value: Any) -> Any:
    """Returns a number, or an array of several; NaN for none."""
    several = value if isinstance(value, list) and value else [None if value == [] else value]
    if any(isinstance(each, bool) or not isinstance(each, int | float | None) for each in several):
        raise UserError(f"{where} has the value {str(value)[:60]!r}, which is not a number", HINT)
    numbers = np.array([math.nan if each is None else each for each in several], dtype=np.float64)
    return numbers if len(numbers) > 1 else float(numbers[0])


def _among(losses: list[Any]) -> float:
    right, wrong = (-np.atleast_1d(each) for each in losses)
    return float(np.exp(right[0] - np.logaddexp.reduce([right[0], *wrong])))


FORMS = {
    "number": lambda values: float(np.mean(values[0])),
    "probability": lambda losses: float(np.mean(np.exp(-np.asarray(losses[0])))),
    "among": _among,
}
