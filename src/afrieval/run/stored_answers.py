"""Reads the scored answers of a run: where each is, its document, and the declaration of its task."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from afrieval._util.errors import UserError
from afrieval.results.run_folder import RunFolder
from afrieval.results.samples import Sample
from afrieval.tasks.declaration.spec import TASKS, Folders, TaskSpec, load_task, task_folders, task_names, translated


class AnswerAddress(NamedTuple):
    """The run, the cell and the document of a stored answer; as a text, for messages."""

    run: Path
    cell: str
    row: int

    def __str__(self) -> str:
        return f"{self.run}: {self.cell}, document {self.row}"


def scored_answers(run: RunFolder, names: Iterable[str]) -> Iterator[tuple[AnswerAddress, Sample]]:
    """Yields the scored answers of some cells: all but defective ones."""
    for name in names:
        for line in run.lines(name):
            if line["metrics"]:
                yield AnswerAddress(run.path, name, line["doc_id"]), line


def document_of(address: AnswerAddress, line: Sample, shows: Sequence[str] = ()) -> dict[str, Any]:
    """Returns the document of a stored answer.

    Args:
        address: the answer's address.
        line: the answer.
        shows: fields that its rubric shows.

    Raises:
        UserError: if it was not stored, or without these fields.
    """
    document: dict[str, Any] | None = line.get("doc")
    if not isinstance(document, dict):
        raise UserError(f"{address} was stored without its texts", "run again with --eval.log_samples true")
    if missing := [name for name in shows if name not in document]:
        problem = f"{address} was stored without {missing[0]}, which the rubric shows"
        raise UserError(problem, "run again: the task had other fields")
    return document


def specs_of(run: RunFolder, folder: Folders | None) -> dict[str, TaskSpec]:
    """Returns the declarations of a run's tasks, as far as they are here, or in a folder of the user's own tasks."""
    folders = [*(task_folders(folder) if folder else ()), TASKS]
    available, specs = set(task_names(folders)), {}
    for task, declared in run.record["declared"].items():
        name = task if task in available else task.removesuffix("_translate")
        if name in available:
            spec = load_task(name, folders, declared.get("options"))
            specs[task] = spec if name == task else translated(spec)
    return specs
