"""Stored runs for comparison: the scores of their cells, and what has to match for two to be comparable."""

import os
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from afrieval._util.errors import UserError, reason
from afrieval._util.grouping import grouped
from afrieval.models.model_identity import called, is_path
from afrieval.models.registry import backend_of
from afrieval.results.cell_key import SUITE
from afrieval.results.cell_scores import CellScores
from afrieval.results.run_files import RUN, cell_names
from afrieval.results.run_folder import RunFolder
from afrieval.results.schema import Declared, Identity, RunRecord, TaskIdentity


def source_of_likelihoods(record: RunRecord) -> str:
    """Returns which engines, or which backend, computed the likelihoods of a run."""
    model: dict[str, Any] = dict(record["identity"]["model"])
    backend = backend_of(model.get("model_type", "hf"))
    if backend.has_engine:
        engines = dict.fromkeys(dict(visit).get("engine") for visit in record["visits"])
        return " and ".join(f"the {engine} engine" for engine in engines if engine)
    if backend.served:
        echoes = model.get("api", {}).get("endpoint") == "completions"
        return "prompts that the server repeats" if echoes else "the most likely first tokens that the server states"
    return backend.source or f"the backend {backend.name}"


T = TypeVar("T")
HASHED = r"@[0-9a-f]{8,}$"
SETTINGS = ("dtype", "device", "batch_size", "processes", "max_length", "model_commit", "git_commit", "versions")
API_SETTINGS = ("reasoning_effort", "temperature")
MODEL_SETTINGS = ("chat_template", "chat_tags", "chat_system", "chat_date", "thinking_end", "add_bos_token")


def read_runs(folders: Iterable[Path], sent: bool = False) -> list[CellScores]:
    """Returns the cells of finished runs of our own tasks.

    Raises:
        UserError: for a folder that is not a run, is not finished, or has a damaged file.
    """
    runs = [RunFolder(folder, sent) for folder in dict.fromkeys(folders)]
    for run in runs:
        check_finished(run)
    labels = model_labels({run.path: run.record for run in runs})
    cells = [cell for run in runs for cell in run_cells(run, labels[run.path])]
    if runs and not cells:
        raise UserError(
            f"{runs[0].path} has tasks of the harness only",
            "give runs of the suite's own tasks; compare also reads what `lm_eval --output_path` writes",
        )
    _check_same_rows(cells)
    _check_once(cells)
    return cells


class Readable(NamedTuple):
    """What could be read of many run folders.

    Attributes:
        cells: of our own tasks, with `model` as the name that `model_labels` gives it.
        records: the folders of the runs that they are of, and what run.yaml said when they were read.
        left_out: folder to the reason why it was not read.
    """

    cells: list[CellScores]
    records: dict[Path, RunRecord]
    left_out: dict[Path, str]


def readable_runs(folders: Iterable[RunFolder]) -> Readable:
    """Returns the cells of all runs that are finished and undamaged; the same cell may be in several of them.

    Each folder is read once: it may be written, or removed, at the same time.
    """
    left_out: dict[Path, str] = {}

    def whole(run: RunFolder) -> tuple[RunRecord, list[CellScores]]:
        cells = run_cells(run, "")
        _check_same_rows(cells)
        if not (record := run.record):
            raise UserError(f"{run.path} was removed while it was read", "give runs that stay")
        return record, cells

    finished = _each(folders, check_finished, left_out)
    contents = _each(finished, whole, left_out)
    records = {run.path: record for run, (record, _) in contents.items()}
    labels = model_labels(records)
    cells = [replace(cell, model=labels[run.path]) for run, (_, cells) in contents.items() for cell in cells]
    return Readable(cells, records, left_out)


def _each(runs: Iterable[RunFolder], read: Callable[[RunFolder], T], left_out: dict[Path, str]) -> dict[RunFolder, T]:
    """Returns what can be read of runs; `left_out` receives the reasons for the others."""
    contents = {}
    for run in runs:
        try:
            contents[run] = read(run)
        except (UserError, OSError) as e:
            left_out[run.path] = reason(e)
        except MemoryError:
            left_out[run.path] = "it does not fit into the memory that is free"
    return contents


def check_run(folder: Path) -> None:
    """Refuses a folder that is not a run, or has no finished cell."""
    hint = "give folders that `afrieval run` has written"
    if folder.exists() and not folder.is_dir():
        raise UserError(f"{folder} is a file, not a run folder", hint)
    if not folder.is_dir():
        raise UserError(f"there is no run folder {folder}", hint)
    if not os.path.lexists(folder / RUN):
        raise UserError(f"{folder} is not a run folder: it has no {RUN}", hint)
    if not cell_names(folder):
        raise UserError(f"{folder} has no finished cell", "the same `afrieval run` command goes on with it")


def run_cells(run: RunFolder, label: str) -> list[CellScores]:
    """Returns the cells of our own tasks that have a scored document, described by run.yaml."""
    cells = [run.scores(name) for name in run.names]
    return [described(cell, run, label) for cell in cells if cell.harness is None and cell.n]


def described(cell: CellScores, run: RunFolder, label: str) -> CellScores:
    """Returns a cell with its model, shots and form of answer, and what must and may differ from others."""
    record = run.record
    suite = record.get("suite")
    try:
        identity, visit = record["identity"], record["visits"][-1]
        task = identity["tasks"][cell.task]
        config: Any = visit.get("config")
        # Whether rows are the suite's own follows from the source if the cell does not say so.
        source = config.get("data", {}).get("source") if isinstance(config, Mapping) else None
        sample_rows = {cell.language: source == "samples", **cell.declared.get("sample_rows", {})}
        declared: Declared = {**cell.declared, "sample_rows": sample_rows}
        return replace(
            cell,
            declared=declared,
            model=label,
            shots=shots_of(identity, cell.task),
            answer_form=task["answer_form"],
            comparable_on=_must(record, task, cell),
            recorded_settings={name: visit.get(name) for name in SETTINGS}
            | {"likelihoods": None if task["answer_form"] == "generate" else source_of_likelihoods(record) or None}
            | {name: dict(identity["model"]).get(name) for name in MODEL_SETTINGS}
            | {name: identity["model"].get("api", {}).get(name) for name in API_SETTINGS},
            looks=record.get("looks", 1),
            suite=suite["name"] if suite else "",
            suite_groups=suite["groups"] if suite else {},
        )
    except (KeyError, IndexError) as e:
        raise UserError(f"{run.path / RUN} does not say {e}", "it was written by another version, or changed") from None


def shots_of(identity: Identity, task: str) -> int:
    """Returns a task's number of few-shot examples: those of the run, unless all rows of a split are its examples."""
    return identity["tasks"][task].get("shots", identity["fewshot"]["num_fewshot"])


def short_name(model: str) -> str:
    """Returns the name of a model without the hash of weights that were loaded already, or the end of its path."""
    return called(model) if is_path(model) else re.sub(HASHED, "", model)


def model_labels(records: Mapping[Path, RunRecord]) -> dict[Path, str]:
    """Returns a name for the model of each run, another for each other model or setting of one.

    It is the model's own, or the end of its path; where two would have the same, the end of the run folder is added.
    """
    models = {folder: record["identity"]["model"] for folder, record in records.items()}
    names = {folder: str(model["model_name"]) for folder, model in models.items()}
    labels = {f: short_name(name) for f, name in names.items()}
    for parts in range(1, 20):
        alike = [f for f in labels if any(labels[f] == labels[o] and models[f] != models[o] for o in labels)]
        if not alike:
            break
        base = {f: labels[f].partition(" (")[0] for f in alike}
        labels |= {f: f"{base[f]} ({'/'.join(f.resolve().parts[-parts:])})" for f in alike}
    return labels


def _must(record: RunRecord, task: TaskIdentity, cell: CellScores) -> dict[str, object]:
    """Returns what has to match, each under the dimension that may change it; `data` is the language's own."""
    identity = record["identity"]
    shots = shots_of(identity, cell.task)
    in_language = cell.prompt_language == "native" or cell.prompt_set != SUITE
    written = cell.language if in_language else "eng"
    fewshot, data = identity["fewshot"], list(task["data"][cell.language].values())
    return {
        "task version": task["version"],
        "data": data[0],
        "few-shot data": data[-1] if shots else None,
        "few-shot selection": fewshot["selection"] if shots else None,
        "few-shot rows": record.get("fewshot_ids", {}).get(cell.name) if shots else [],
        "few-shot seed": fewshot["seed"] if shots else None,
        "prompt text": task["prompts"][written][cell.prompt],
        "variant": identity["variant"],
        "options": cell.declared.get("options", {}),
        "extractor options": cell.declared.get("extract", {}),
        "limit of answers": identity.get("max_gen_toks"),
    }


def check_finished(run: RunFolder) -> None:
    """Refuses a run without all of its cells."""
    check_run(run.path)
    stored, planned = set(run.names), run.record.get("cells", [])
    if missing := [name for name in planned if name not in stored]:
        raise UserError(
            f"{run.path} is not finished: {len(missing)} of {len(planned)} cells are missing, such as {missing[0]}",
            "the same `afrieval run` command goes on with it",
        )


def _check_same_rows(cells: list[CellScores]) -> None:
    """Refuses a run whose cells of one language do not end at the same row: it was enlarged, and stopped."""
    for (folder, *_), of_language in grouped(cells, lambda c: (c.folder, c.task, c.language)).items():
        first = of_language[0]
        if others := [cell for cell in of_language if cell.rows != first.rows]:
            raise UserError(
                f"{folder} is not finished: {first.name} has {first.rows} rows, {others[0].name} {others[0].rows}",
                "the same `afrieval run` command goes on with it",
            )


def _check_once(cells: list[CellScores]) -> None:
    """Refuses two runs of the same cell of the same model: one would be taken for the other."""
    for one, *others in grouped(cells, lambda c: (c.model, c.without())).values():
        if not others:
            continue
        two = others[0]
        sides = (
            (one.comparable_on, two.comparable_on),
            (one.recorded_settings, two.recorded_settings),
            ({"rows": one.rows}, {"rows": two.rows}),
        )
        differ = [k for first, second in sides for k in first if first[k] != second.get(k)]
        raise UserError(
            f"{one.folder} and {two.folder} both have {two.name}, "
            f"{'with other ' + ', '.join(differ) if differ else 'alike in everything'}",
            "leave one out; what is compared are models, prompts, shots and forms of answer",
        )
