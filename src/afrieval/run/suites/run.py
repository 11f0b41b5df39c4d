"""Computes the derived metrics of a run, compares them with reference runs, and writes derived.json."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

from afrieval._util.grouping import grouped
from afrieval._util.terminal import note
from afrieval.config.files import shipped_suites
from afrieval.results.cell_scores import CellScores
from afrieval.results.run_files import DERIVED, read_run, write_json
from afrieval.results.schema import RunRecord
from afrieval.run.suites.derived_scores import Declared, DerivedScore, derived_scores
from afrieval.run.suites.reference import (
    ReferenceRun,
    check_comparable,
    open_references,
    read_results,
    with_rows_checked,
)
from afrieval.tasks.declaration.selection import check_references


def scores_of_run(
    record: RunRecord, cells: Sequence[CellScores], references: Sequence[ReferenceRun]
) -> list[DerivedScore]:
    """Returns the derived metrics of a run; none if its suite declares none.

    Raises:
        UserError: for a reference that is not comparable with the run.
    """
    declared = _declared(record)
    if not declared:
        return []
    check_comparable(references, record["identity"], declared)
    scores = derived_scores(declared, cells, {of.name: with_rows_checked(of) for of in references})
    model = record["identity"]["model"].get("fingerprint")
    same = {of.name for of in references if of.identity is not None and of.fingerprint == model}
    for index, score in enumerate(scores):
        alike = [name for name in score.references if name in same and score.score is not None]  # it is always the best
        notes = [f"the reference {name} has the same model as the run" for name in alike]
        scores[index] = replace(score, notes=[*score.notes, *notes])
    return scores


def of_runs(
    cells: Sequence[CellScores], paths: Mapping[str, str], files: Sequence[Path] = ()
) -> dict[str, list[DerivedScore]]:
    """Returns the derived metrics of several runs by suite, and stores those that are compared with a reference.

    Args:
        cells: of all runs.
        paths: name of a reference run to its path.
        files: results of other programs, of suites that come with the package.

    Raises:
        UserError: for a reference that is not a run, is not used, or is not comparable with a run.
    """
    of_folders = {folder: of for folder, of in grouped(cells, lambda c: c.folder).items() if folder}
    records = {folder: read_run(folder) for folder in of_folders}
    of_files = [read_results(path) for path in files]
    shipped = {suite: cast(Declared, shipped_suites()[suite].derived) for suite, _ in of_files}
    declared = [spec for of in [*map(_declared, records.values()), *shipped.values()] for spec in of.values()]
    check_references(list(paths), [spec.get("reference") or "" for spec in declared])
    references = open_references(paths)
    by_suite: dict[str, list[DerivedScore]] = {}
    for folder, record in records.items():
        if scores := scores_of_run(record, of_folders[folder], references):
            by_suite.setdefault(record["suite"]["name"], []).extend(scores)
            if references:  # without them, `finish` has written it already
                store(folder, record, scores, references)
    for suite, of_file in of_files:
        scores = derived_scores(shipped[suite], of_file, {of.name: of.find for of in references})
        by_suite.setdefault(suite, []).extend(scores)
    return by_suite


def _declared(record: RunRecord) -> Declared:
    return record.get("suite", {}).get("derived", {})


def store(folder: Path, record: RunRecord, scores: Sequence[DerivedScore], references: Sequence[ReferenceRun]) -> None:
    """Writes derived.json, with all that each number depends on, to the run folder; nothing if there are none."""
    try:
        if scores:
            write_json(folder / DERIVED, [_stored(score, record, references) for score in scores], allow_nan=False)
    except OSError as e:  # somebody else's run
        note(f"{folder / DERIVED} cannot be written: {e.strerror}")


def _stored(score: DerivedScore, record: RunRecord, references: Sequence[ReferenceRun]) -> dict[str, Any]:
    used = [of for of in references if of.name in score.references]
    identity = record["identity"]
    model: Mapping[str, Any] = identity["model"]
    return {
        "name": score.name,
        "how": record["suite"]["derived"][score.name],
        "value": score.score,
        "interval": score.interval,
        "n": score.n,
        "reason": score.reason,
        "notes": list(score.notes),
        "cells": sorted(cell.name for cell in score.cells.values()),
        "identity": {
            "model": dict(model),
            "tasks": {task: identity.get("tasks", {}).get(task) for task in score.cells},
            "rows": {cell.name: cell.rows for cell in score.cells.values()},
            "settings": {key: of for key, of in identity.items() if key not in ("model", "tasks", "harness_tasks")},
            "references": {of.name: {"path": str(of.path), "fingerprint": of.fingerprint} for of in used},
        },
    }
