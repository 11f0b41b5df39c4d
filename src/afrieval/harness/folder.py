"""Runs of lm_eval as scores of cells, to compare them with our runs."""

from pathlib import Path
from typing import Any

import numpy as np

from afrieval.harness.folder_files import ForeignTask, foreign_tasks, is_foreign, read_foreign
from afrieval.harness.folder_names import Named, named
from afrieval.harness.folder_settings import declared, may, must
from afrieval.results.columns import continuations, sent_hashes
from afrieval.results.derived import not_measured
from afrieval.results.schema import Declared
from afrieval.results.scores import CellScores
from afrieval.results.selection import Selection, selection
from afrieval.scoring.base import Metric
from afrieval.terminal import note

__all__ = ["foreign_cells", "is_foreign"]

OURS = {"id", "choices", "gold", "worked"}  # keys of all documents of exported tasks
Sample = dict[str, Any]


def foreign_cells(folder: Path) -> list[CellScores]:
    """Returns the tasks in a folder of lm_eval as cells, and prints a note for each task left out.

    Models are marked `(lm_eval)`, and so are tasks of the harness with the name of one of ours,
    since their prompts, and possibly their documents, differ. Tasks without a language of the suite
    in their name, or without scores per document, are left out.

    Raises:
        UserError: if the folder has no samples, or damaged ones.
    """
    tasks = foreign_tasks(folder)
    labels = _labels(tasks)
    found = []
    for task in tasks:
        cell = _cell(task, labels[task.path.parent])
        if isinstance(cell, CellScores):
            found.append(cell)
        else:
            note(f"left out: {task.name} of {folder}: {cell}")
    return found


def _labels(tasks: list[ForeignTask]) -> dict[Path, str]:
    """Returns a model name for each folder: the last part of a path, unless two are the same."""
    names = {task.path.parent: str(task.results.get("model_name") or task.path.parent.name) for task in tasks}
    short = {at: Path(name).name if name.startswith(("/", ".", "~")) else name for at, name in names.items()}
    again = {name for name in short.values() if list(short.values()).count(name) > 1}
    return {at: f"{names[at] if name in again else name} (lm_eval)" for at, name in short.items()}


def _cell(task: ForeignTask, model: str) -> CellScores | str:
    """Returns the scores of a task, or the reason why there are none."""
    name = named(task.name)
    if name.problem:
        return name.problem
    samples = read_foreign(task.path)
    metric = _metric(task, samples)
    if metric is None:
        return "it has no metric with a number from 0 to 1 for each document"
    return _scored_cell(task, name, model, metric, samples)


def _scored_cell(task: ForeignTask, name: Named, model: str, metric: Metric, samples: list[Sample]) -> CellScores:
    """Returns the scores; exported tasks lack the rows without an answer, but keep row numbers."""
    exported = name.ours and all(isinstance(s["doc"], dict) and s["doc"].keys() >= OURS for s in samples)
    samples = sorted(samples, key=lambda s: s["doc"]["id"] if exported else s["doc_id"])
    output_type = task.entry("configs").get("output_type")
    none = np.full(len(samples), -1, dtype=np.int64)
    sent = [sent_hashes(s) for s in samples]
    return CellScores(
        name=task.name,
        task=name.task if exported or not name.is_namesake else f"{name.task} (lm_eval)",
        language=name.language,
        prompt_language=name.prompt_language,
        prompt=name.prompt,
        model=model,
        shots=task.entry("n-shot"),
        answer_form=_scored_form(samples) if output_type == "multiple_choice" else "generate",
        metrics={metric.name: metric},
        measures={metric.name: np.array([[s[metric.name]] for s in samples], dtype=np.float64)},
        ids=np.array([s["doc"]["id"] if exported else s["doc_id"] for s in samples], dtype=np.int64),
        golds=np.array([_gold(s, exported, output_type) for s in samples], dtype=np.int64),
        picked=none,
        n_choices=none,
        rows=len(samples),
        selection=_selection(task, len(samples)),
        sent={what: np.array([hashes[what] for hashes in sent]) for what in sent[0]},
        must=must(task, samples),
        may=may(task),
        path=task.path,
        declared=_declared(task, name) if exported else {},
    )


def _declared(task: ForeignTask, name: Named) -> Declared:
    """Returns what the task file says of an exported task, and our export of whether its rows are the suite's own."""
    own = task.name in ((task.results.get("config") or {}).get("sample_rows") or [])
    return {**declared(name), "sample_rows": {name.language: True}} if own else declared(name)


def _selection(task: ForeignTask, n: int) -> Selection:
    """Returns which rows were run: the first ones, or those that are named; those without an answer count as run."""
    config, counts = task.results.get("config") or {}, task.entry("n-samples")
    of = counts.get("original") if isinstance(counts, dict) else None
    if not (config.get("limit") or config.get("samples")):
        return Selection("all", n)
    if not isinstance(of, int):
        return Selection("sample" if config.get("samples") else "first", n)
    return selection(n, of, sampled=bool(config.get("samples")))


def _metric(task: ForeignTask, samples: list[Sample]) -> Metric | None:
    """Returns the first metric that scores single documents, higher being better; None if there is none.

    Some, such as f1, store a pair per document, from which the score of all is computed.
    """
    better = (task.results.get("higher_is_better") or {}).get(task.name) or {}
    for key in task.entry("results"):
        name, comma, _ = key.partition(",")
        if comma and better.get(name) is not False and all(_is_score(s.get(name)) for s in samples):
            return Metric(str(name), not_measured)
    return None


def _is_score(value: object) -> bool:
    return isinstance(value, int | float) and 0 <= value <= 1


def _scored_form(samples: list[Sample]) -> str:
    """Returns `letter` if all continuations are single letters, else `text`."""
    scored = {str(part).strip(" ().:\n") for sample in samples for part in continuations(sample)}
    return "letter" if all(len(part) == 1 and part.isalpha() for part in scored) else "text"


def _gold(sample: Sample, exported: bool, output_type: Any) -> int:
    if exported:  # the answer of a number task is not a choice
        return int(sample["doc"]["gold"]) if sample["doc"]["choices"] else -1
    target = str(sample["target"])
    return int(target) if output_type == "multiple_choice" and target.isdecimal() else -1
