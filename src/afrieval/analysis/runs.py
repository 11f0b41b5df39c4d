"""Stored runs to units: the scores of one cell, what the cell is, and what has to match for it to be compared."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import orjson
from numpy.typing import NDArray

from afrieval.errors import UserError
from afrieval.results.files import RUN, harness_path, read_run, sample_files

Values = NDArray[np.float64]
DIMENSIONS = ("prompt_language", "prompt", "model", "shots", "answer_form", "language")
SETTINGS = ("dtype", "device", "batch_size", "processes", "versions")


@dataclass(frozen=True)
class Unit:
    """The scores of a cell of one run.

    Attributes:
        task: its name.
        dimensions: what it is along each dimension: prompt_language, prompt, model, shots, answer_form, language.
        metric: the metric that is its score.
        ids: rows that were scored, ascending, shape (n,).
        values: their scores, 0 to 1, shape (n,).
        golds: their right choices; -1 where there are none.
        must: what has to be the same on both sides of a comparison, by name for people.
        may: settings that may differ, and are told if they do.
        path: its sample file; None if its samples are not at hand.
        declared: labels, breakdowns and parallel languages of its task.
    """

    task: str
    dimensions: dict[str, Any]
    metric: str
    ids: NDArray[np.int64]
    values: Values
    golds: NDArray[np.int64]
    must: dict[str, Any] = field(default_factory=dict)
    may: dict[str, Any] = field(default_factory=dict)
    path: Path | None = None
    declared: dict[str, Any] = field(default_factory=dict)

    @property
    def language(self) -> str:
        """The language evaluated."""
        return str(self.dimensions["language"])

    @property
    def name(self) -> str:
        """The cell's name."""
        place = (self.dimensions[d] for d in ("language", "prompt_language", "prompt"))
        return "_".join(map(str, (self.task, *place)))

    @property
    def score(self) -> float:
        """Mean of the values."""
        return float(self.values.mean())


def read_units(folders: Iterable[Path], whole: bool = True) -> list[Unit]:
    """Returns the cells of run folders, those of our own tasks.

    Args:
        folders: where runs are.
        whole: whether a run must have all cells that it was begun with.

    Raises:
        UserError: for a folder that is no run, is not finished, or has a damaged file.
    """
    folders = list(folders)
    records = {folder: _record(folder, whole) for folder in folders}
    labels = _labels(records)
    return [unit for folder in folders for unit in _units(folder, records[folder], labels[folder])]


def _record(folder: Path, whole: bool) -> dict[str, Any]:
    if not folder.is_dir():
        raise UserError(f"there is no run folder {folder}", "give folders that `afrieval run` has written")
    if not (folder / RUN).exists():
        raise UserError(f"{folder} is no run folder: it has no {RUN}", "give folders that `afrieval run` has written")
    if not sample_files(folder):
        raise UserError(f"{folder} has no finished cell", "the same `afrieval run` command goes on with it")
    record = read_run(folder)
    there = {path.stem.removeprefix("samples_") for path in sample_files(folder)}
    planned = record.get("cells", [])
    if whole and (missing := [name for name in planned if name not in there]):
        raise UserError(
            f"{folder} is not finished: {len(missing)} of {len(planned)} cells are missing, such as {missing[0]}",
            "the same `afrieval run` command goes on with it",
        )
    return record


def _labels(records: dict[Path, dict[str, Any]]) -> dict[Path, str]:
    """Returns a name for the model of each run; runs of other weights or settings under one name get the folder's."""
    models = {folder: record["identity"]["model"] for folder, record in records.items()}
    labels = {}
    for folder, model in models.items():
        name = str(model["model_name"])
        same = [m for m in models.values() if m["model_name"] == name]
        label = Path(name).name if name.startswith(("/", ".", "~")) else name
        labels[folder] = label if all(m == model for m in same) else f"{label} ({folder.name})"
    return labels


def _units(folder: Path, record: dict[str, Any], model: str) -> list[Unit]:
    names = {path: path.stem.removeprefix("samples_") for path in sample_files(folder)}
    ours = [path for path, name in names.items() if not harness_path(folder, name).exists()]
    return [unit for path in ours if (unit := _unit(path, record, model)) is not None]


def _unit(path: Path, record: dict[str, Any], model: str) -> Unit | None:
    lines = (line for line in read_lines(path) if line["metrics"])
    first = next(lines, None)
    if first is None:
        return None
    metric = first["metrics"][0]
    scored = [(line["doc_id"], line[metric], line.get("gold", -1)) for line in chain([first], lines)]
    ids, values, golds = zip(*scored, strict=True)
    identity = record["identity"]
    task = identity["tasks"][first["task"]]
    dimensions = {
        "prompt_language": first["prompt_language"],
        "prompt": first["prompt"],
        "model": model,
        "shots": identity["fewshot"]["num_fewshot"],
        "answer_form": task["answer_form"],
        "language": first["language"],
    }
    return Unit(
        task=first["task"],
        dimensions=dimensions,
        metric=metric,
        ids=np.array(ids),
        values=np.array(values, dtype=np.float64),
        golds=np.array(golds),
        must=_must(record, task, dimensions, path.stem.removeprefix("samples_")),
        may={name: record["visits"][-1].get(name) for name in SETTINGS},
        path=path,
        declared=record.get("declared", {}).get(first["task"], {}),
    )


def _must(record: dict[str, Any], task: dict[str, Any], dimensions: dict[str, Any], cell: str) -> dict[str, Any]:
    """Returns what has to match, each under the dimension that may change it; `data` is the language's own."""
    identity, language = record["identity"], dimensions["language"]
    written = language if dimensions["prompt_language"] == "native" else "eng"
    fewshot = identity["fewshot"]
    return {
        "task version": task["version"],
        "data": next(iter(task["data"][language].values())),
        "few-shot rows": record.get("fewshot_ids", {}).get(cell) if fewshot["num_fewshot"] else [],
        "few-shot seed": fewshot["seed"] if fewshot["num_fewshot"] else None,
        "prompt text": task["prompts"][written][dimensions["prompt"]],
        "variant": identity["variant"],
        "limit of answers": identity.get("max_gen_toks"),
    }


def read_lines(path: Path) -> Iterator[dict[str, Any]]:
    """Yields the samples of a file, one at a time: a list of them all keeps the garbage collector busy.

    Raises:
        UserError: naming the line that is not JSON.
    """
    for number, line in enumerate(path.read_bytes().split(b"\n"), 1):
        if line:
            try:
                yield orjson.loads(line)
            except orjson.JSONDecodeError as e:
                raise UserError(
                    f"{path}, line {number}, is not JSON: {e}", "delete the file and run again; only its cell is redone"
                ) from None
