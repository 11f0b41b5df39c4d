"""Writes a run whose answers were scored again; until all is written, run.yaml marks the folder as halfway."""

from collections.abc import Callable, Mapping
from functools import reduce
from typing import Any

from afrieval import stopping
from afrieval.results.files import is_halfway, write_run, write_samples
from afrieval.results.identity import merged
from afrieval.results.moved import alike
from afrieval.results.reader import RunFolder
from afrieval.results.schema import RunRecord
from afrieval.run.manifest import now, software
from afrieval.run.rescore import Rescored, new_lines, recalling
from afrieval.tasks.cell import RunPart

BY_LANGUAGE = ("unreviewed", "defective")  # what is declared of a language, which other cells may be of


def is_new(found: Rescored) -> bool:
    """Returns whether a run has to be written: its samples, versions or declarations are new, or it is half written."""
    return (
        is_halfway(found.run.record)
        or any(of.changed for of in found.cells)
        or not alike(_record(found), found.run.record)
    )


def write(found: Rescored, summarise: Callable[[RunFolder], None]) -> None:
    """Writes samples, run.yaml and what is computed from them.

    run.yaml is marked first and last. Readers refuse a folder that is halfway, and scoring it again finishes it.

    Args:
        found: a run that was scored again, in a locked folder.
        summarise: writes what is computed from all samples.
    """
    run, entry = found.run, _entry(found)
    stored, new = run.record, _record(found)
    history = [again for again in stored.get("rescored", []) if again["finished"]]
    write_run(run.path, {**stored, "rescored": [*history, entry]})
    cells = [again.cell for again in found.cells if again.changed]
    with recalling(run, cells) as model:
        for cell in cells:
            stopping.check()
            write_samples(run.path, cell.name, new_lines(run, cell, model, []))
    write_run(run.path, {**new, "rescored": [*history, entry]})
    summarise(run)
    write_run(run.path, {**new, "rescored": [*history, {**entry, "finished": True}]})


def _entry(found: Rescored) -> RunPart:
    """Returns what run.yaml says of this scoring; the versions before are those before one that was stopped."""
    begun = [again["tasks"] for again in found.run.record.get("rescored", []) if not again["finished"]]
    before: dict[str, list[int]] = begun[0] if begun else {}
    versions = {task: [before.get(task, [old])[0], new] for task, (old, new) in found.versions.items()}
    return {"date": now(), **software(), "tasks": versions, "finished": False}


def _record(found: Rescored) -> dict[str, Any]:
    """Returns run.yaml with the versions and declarations of tasks as they are now."""
    record: RunRecord = found.run.record
    cells = [again.cell for again in found.cells]
    stored: RunPart = {**record["identity"]}
    kept = {task: _without_extract(of) if task in found.versions else of for task, of in stored["tasks"].items()}
    identity: RunPart = reduce(merged, (cell.identity for cell in cells), {**stored, "tasks": kept})
    declared: RunPart = reduce(merged, (cell.facts["declared"] for cell in cells), {})
    before = record.get("declared", {})
    for task, now_declared in declared.items():
        of_others = {name: before[task][name] for name in BY_LANGUAGE if name in before.get(task, {})}  # type: ignore[literal-required]
        declared[task] = {**now_declared, **{k: merged(of, now_declared.get(k, {})) for k, of in of_others.items()}}
    return {**record, "identity": identity, "declared": {**before, **declared}}


def _without_extract(task: Mapping[str, Any]) -> RunPart:
    """Returns the identity of a task without options of its extractor, which may be another one now."""
    return {name: value for name, value in task.items() if name != "extract"}
