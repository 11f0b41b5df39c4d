"""Writes a run's results in the form of open-unlearning: TOFU_EVAL.json and TOFU_SUMMARY.json, and MUSE's files."""

import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from afrieval._util.errors import UserError
from afrieval._util.grouping import grouped
from afrieval._util.whole_files import write_whole
from afrieval.addons.unlearning.results import FileMetric, OpenUnlearningNames, all_names
from afrieval.results.cell_scores import CellScores
from afrieval.results.comparable_runs import check_run, model_labels, run_cells
from afrieval.results.run_folder import RunFolder
from afrieval.run.suites.derived_scores import DerivedScore
from afrieval.run.suites.reference import open_references
from afrieval.run.suites.run import scores_of_run
from afrieval.tasks.declaration.selection import check_references

Results = dict[str, Any]


def export_run(runs: Sequence[Path], folder: Path, references: Mapping[str, str]) -> list[Path]:
    """Writes the two files of a run to a folder, and returns their paths.

    Raises:
        UserError: for several runs, one of a suite that open-unlearning lacks, or a task with several prompts.
    """
    if len(runs) > 1:
        raise UserError(f"--to open-unlearning takes one run, not {len(runs)}", "export each run to another folder")
    (run,) = runs
    check_run(run)
    stored = RunFolder(run)
    cells = run_cells(stored, model_labels({run: stored.record})[run])
    suite = stored.record.get("suite", {}).get("name", "")
    names = next((each for each in all_names() if suite in each.suites), None)
    if names is None:
        suites = ", ".join(suite for each in all_names() for suite in each.suites)
        raise UserError(f"{run} is not a run of a suite that open-unlearning has", f"export a run of {suites}")
    used = [spec.get("reference") or "" for spec in stored.record["suite"].get("derived", {}).values()]
    check_references(list(references), used)
    scores = scores_of_run(stored.record, cells, open_references(references))
    of_tasks = grouped(cells, lambda cell: cell.task)
    for task, of_task in of_tasks.items():
        if len(of_task) > 1:
            first, second, *_ = of_task
            raise UserError(f"{task} has several prompts: {first.name}, {second.name}", "run one prompt alone")
    whole, summary = _results(names, {task: cell for task, (cell,) in of_tasks.items()}, scores)
    folder.mkdir(parents=True, exist_ok=True)
    files = {folder / f"{names.evaluator}_EVAL.json": whole, folder / f"{names.evaluator}_SUMMARY.json": summary}
    for path, content in files.items():
        write_whole(path, json.dumps(content, indent=4, sort_keys=True, allow_nan=False).encode())
    return list(files)


def _results(
    names: OpenUnlearningNames, cells: Mapping[str, CellScores], scores: Sequence[DerivedScore]
) -> tuple[Results, Results]:
    whole: Results = {}
    for name, location in names.metrics.items():
        task, _, metric = name.partition(".")
        if task in cells and metric in cells[task].metrics:
            _add(whole, location, cells[task], metric)
    summary = {names.derived[of.name]: of.score for of in scores if of.name in names.derived and of.score is not None}
    for their, score in summary.items():
        result = whole.setdefault(their, {})
        result["agg_value"] = score
        if "holdout" in result:
            result["auc"] = score
    return whole, summary


def _add(whole: Results, location: FileMetric, cell: CellScores, metric: str) -> None:
    """Adds a metric of a cell to the results; of several in one result, the first gives its score."""
    result = whole.setdefault(location.result, {})
    result = result.setdefault(location.part, {}) if location.part else result
    measures = cell.measures[metric]
    measured = ~np.isnan(measures).any(axis=1)
    if not measured.any():
        return
    ones = np.ones((1, int(measured.sum())))
    result.setdefault("agg_value", float(cell.metrics[metric].score(measures[measured], ones)[0]))
    by_index = result.setdefault("value_by_index", {})
    for index, value in zip(cell.ids[measured].tolist(), measures[measured, 0].tolist(), strict=True):
        entry = by_index.setdefault(str(index), {})
        entry[str(location.value)] = value
        if location.loss and value > 0:
            entry[location.loss] = -math.log(value)
