"""Stored runs to units: the scores of one cell, what the cell is, and what has to match for it to be compared."""

import hashlib
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from afrieval.errors import UserError
from afrieval.results.files import RUN, cell_name, cell_names, harness_path, read_run, sample_files, sample_path
from afrieval.results.samples import REDO, is_harness, read_lines

Values = NDArray[np.float64]
DIMENSIONS = ("prompt_language", "prompt", "model", "shots", "answer_form", "language")
SETTINGS = ("dtype", "device", "batch_size", "processes", "max_length", "model_commit", "git_commit", "versions")


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
        rows: all rows of the cell, scored or not.
        must: what has to be the same on both sides of a comparison, by name for people.
        may: settings that may differ, and are told if they do.
        path: its sample file; None if its samples are not at hand.
        declared: labels, breakdowns and parallel languages of its task.
        keys: a number for each row that is the same for the same question in every language, shape (n,); None in runs
            of tasks that declare no key, and in older ones.
    """

    task: str
    dimensions: dict[str, Any]
    metric: str
    ids: NDArray[np.int64]
    values: Values
    golds: NDArray[np.int64]
    rows: int = 0
    must: dict[str, Any] = field(default_factory=dict)
    may: dict[str, Any] = field(default_factory=dict)
    path: Path | None = None
    declared: dict[str, Any] = field(default_factory=dict)
    keys: NDArray[np.int64] | None = None

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
    folders = list(dict.fromkeys(folders))
    records = {folder: _record(folder, whole) for folder in folders}
    labels = _labels(records)
    units = [unit for folder in folders for unit in _units(folder, records[folder], labels[folder])]
    if folders and not units:
        raise UserError(
            f"{folders[0]} has tasks of the harness only",
            "compare reads runs of the suite's own tasks, and what `lm_eval --output_path` writes",
        )
    if whole:
        _check_same_rows(units)
    _check_once(units)
    return units


def _record(folder: Path, whole: bool) -> dict[str, Any]:
    if not folder.is_dir():
        raise UserError(f"there is no run folder {folder}", "give folders that `afrieval run` has written")
    if not os.path.lexists(folder / RUN):
        raise UserError(f"{folder} is no run folder: it has no {RUN}", "give folders that `afrieval run` has written")
    if not sample_files(folder):
        raise UserError(f"{folder} has no finished cell", "the same `afrieval run` command goes on with it")
    record = read_run(folder)
    there, planned = set(cell_names(folder)), record.get("cells", [])
    if whole and (missing := [name for name in planned if name not in there]):
        raise UserError(
            f"{folder} is not finished: {len(missing)} of {len(planned)} cells are missing, such as {missing[0]}",
            "the same `afrieval run` command goes on with it",
        )
    return record


def _check_same_rows(units: list[Unit]) -> None:
    """Refuses a run whose cells of one language do not end at the same row: it was enlarged, and stopped."""
    lengths: dict[tuple[Any, ...], Unit] = {}
    for unit in units:
        other = lengths.setdefault((unit.path and unit.path.parent, unit.task, unit.language), unit)
        if other.rows != unit.rows:
            raise UserError(
                f"{unit.path and unit.path.parent} is not finished: {other.name} has {other.rows} rows, "
                f"{unit.name} {unit.rows}",
                "the same `afrieval run` command goes on with it",
            )


def _check_once(units: list[Unit]) -> None:
    """Refuses two runs of the same cell of the same model: one would be taken for the other."""
    seen: dict[tuple[Any, ...], Unit] = {}
    for unit in units:
        other = seen.setdefault((unit.task, *unit.dimensions.items()), unit)
        if other is not unit:
            sides = ((other.must, unit.must), (other.may, unit.may), ({"rows": other.rows}, {"rows": unit.rows}))
            differ = [k for one, two in sides for k in one if one[k] != two.get(k)]
            raise UserError(
                f"{other.path and other.path.parent} and {unit.path and unit.path.parent} both have {unit.name}, "
                f"{'with other ' + ', '.join(differ) if differ else 'alike in everything'}",
                "leave one out; what is compared are models, prompts, shots and forms of answer",
            )


def _labels(records: dict[Path, dict[str, Any]]) -> dict[Path, str]:
    """Returns a name for the model of each run, another for each other model or setting of one.

    It is the model's own, or the end of its path; where two would have the same, the end of the run folder is added.
    """
    models = {folder: record["identity"]["model"] for folder, record in records.items()}
    names = {folder: str(model["model_name"]) for folder, model in models.items()}
    labels = {f: Path(name).name if name.startswith(("/", ".", "~")) else name for f, name in names.items()}
    for parts in range(1, 20):
        alike = [f for f in labels if any(labels[f] == labels[o] and models[f] != models[o] for o in labels)]
        if not alike:
            break
        base = {f: labels[f].partition(" (")[0] for f in alike}
        labels |= {f: f"{base[f]} ({'/'.join(f.resolve().parts[-parts:])})" for f in alike}
    return labels


def _units(folder: Path, record: dict[str, Any], model: str) -> list[Unit]:
    ours = [name for name in cell_names(folder) if not harness_path(folder, name).exists()]
    return [unit for name in ours if (unit := _unit(sample_path(folder, name), name, record, model)) is not None]


def _unit(path: Path, name: str, record: dict[str, Any], model: str) -> Unit | None:
    first, rows, scored = None, 0, []
    for rows, line in enumerate(_whole_lines(path, name), 1):  # noqa: B007  # the last number is that of the rows
        if line["metrics"]:
            first = first or line
            scored.append((line["doc_id"], float(line[first["metrics"][0]]), line.get("gold", -1), line.get("key")))
    if first is None:
        return None
    ids, values, golds, keys = zip(*scored, strict=True)
    try:
        identity, visit = record["identity"], record["visits"][-1]
        task, shots = identity["tasks"][first["task"]], identity["fewshot"]["num_fewshot"]
        dimensions = {
            "prompt_language": first["prompt_language"],
            "prompt": first["prompt"],
            "model": model,
            "shots": shots,
            "answer_form": task["answer_form"],
            "language": first["language"],
        }
        must = _must(record, task, dimensions, name)
    except (KeyError, IndexError) as e:
        raise UserError(
            f"{path.parent / RUN} does not say {e}", "it was written by another version, or changed"
        ) from None
    return Unit(
        task=first["task"],
        dimensions=dimensions,
        metric=first["metrics"][0],
        ids=np.array(ids),
        values=np.array(values, dtype=np.float64),
        golds=np.array(golds),
        rows=rows,
        must=must,
        may={name: visit.get(name) for name in SETTINGS}
        | {name: identity["model"].get(name) for name in ("chat_template", "thinking_end", "add_bos_token")},
        path=path,
        declared=record.get("declared", {}).get(first["task"], {}),
        keys=np.array([_number(key or f"{first['language']} {row}") for row, key in zip(ids, keys, strict=True)])
        if any(keys)
        else None,
    )


@lru_cache(maxsize=100_000)
def _number(key: str) -> int:
    """Returns a number for a key: 64 bits of a hash, so that no two keys of a task will share one."""
    return int.from_bytes(hashlib.blake2b(key.encode(), digest_size=8).digest(), signed=True)


def _whole_lines(path: Path, name: str) -> Iterator[dict[str, Any]]:
    """Yields the samples of a file that is as a run of its cell wrote it: all rows, in order.

    Raises:
        UserError: naming the line that is not.
    """
    for number, line in enumerate(read_lines(path)):
        if line["doc_id"] != number or is_harness(line) or cell_name(line) != name:
            raise UserError(f"{path}, line {number + 1}, is not what a run wrote", REDO)
        yield line


def _must(record: dict[str, Any], task: dict[str, Any], dimensions: dict[str, Any], cell: str) -> dict[str, Any]:
    """Returns what has to match, each under the dimension that may change it; `data` is the language's own."""
    identity, language = record["identity"], dimensions["language"]
    written = language if dimensions["prompt_language"] == "native" else "eng"
    fewshot, data = identity["fewshot"], list(task["data"][language].values())
    return {
        "task version": task["version"],
        "data": data[0],
        "few-shot data": data[-1] if fewshot["num_fewshot"] else None,
        "few-shot selection": fewshot["selection"] if fewshot["num_fewshot"] else None,
        "few-shot rows": record.get("fewshot_ids", {}).get(cell) if fewshot["num_fewshot"] else [],
        "few-shot seed": fewshot["seed"] if fewshot["num_fewshot"] else None,
        "prompt text": task["prompts"][written][dimensions["prompt"]],
        "variant": identity["variant"],
        "limit of answers": identity.get("max_gen_toks"),
    }
