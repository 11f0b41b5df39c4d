"""Adds a metric to the stored answers of a run, without the model that wrote them."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from afrieval._util import signals
from afrieval._util.errors import UserError
from afrieval._util.terminal import note
from afrieval.results.run_files import write_run, write_samples
from afrieval.results.run_folder import RunFolder
from afrieval.results.samples import Sample
from afrieval.run.finish import Summary, config_of, finish_stored, stored_references
from afrieval.tasks.declaration.spec import TASKS, Folders, TaskSpec, load_task, task_folders, task_names, translated

Declaration = Mapping[str, Any]  # of a task, as run.yaml has it
Change = Callable[[Sample], Sample]

REMOVED = "{task} was judged, rated or scored in another way: that is removed, and it is scored anew"


class Scorer(Protocol):
    """What adds a metric to stored answers: COMET, or a judge."""

    @property
    def name(self) -> str:
        """The metric's."""

    @property
    def cells(self) -> Sequence[str]:
        """The cells that it is for."""

    def has(self, line: Sample) -> bool:
        """Returns whether a scored answer has what it adds."""

    def read(self, name: str, line: Sample) -> Any:
        """Returns what it needs of a scored answer of a cell; UserError if that was not stored."""

    def scored(self, lines: Sequence[Sample], needed: Sequence[Any]) -> list[Sample]:
        """Returns answers with what it adds."""

    def whole(self, lines: list[Sample]) -> list[Sample]:
        """Returns all answers of a cell with what follows from what it added."""

    def declared(self, task: str, known: Declaration) -> Declaration:
        """Returns what run.yaml is to say of a task."""

    def stale(self, task: str, known: Declaration) -> Change | None:
        """Returns what removes from an answer what was added in another way; None if nothing was."""

    def counts(self, task: str) -> list[str]:
        """Returns what has to be said of a task's scores, as sentences."""


def lacking(run: RunFolder, names: Sequence[str], has: Callable[[Sample], bool]) -> int:
    """Returns how many scored answers of some cells do not have what is to be added."""
    return sum(bool(line["metrics"]) and not has(line) for name in names for line in run.lines(name))


def add(run: RunFolder, scorer: Scorer, check: Callable[[], None]) -> Summary:
    """Scores the answers that lack the metric, and writes them cell by cell; a stopped call loses one cell.

    Args:
        run: its folder, locked.
        scorer: what scores them.
        check: checks that the folder is still there.

    Raises:
        UserError: if an answer cannot be scored; before any is.
    """
    names = scorer.cells
    needed = {n: [scorer.read(n, of) if of["metrics"] else None for of in run.lines(n)] for n in names}
    _declare(run, scorer)
    for i, name in enumerate(names, 1):
        signals.check()
        lines = list(run.lines(name))
        todo = [at for at, line in enumerate(lines) if line["metrics"] and not scorer.has(line)]
        if not todo:
            continue
        scored = scorer.scored([lines[at] for at in todo], [needed[name][at] for at in todo])
        for at, line in zip(todo, scored, strict=True):
            lines[at] = line
        check()
        write_samples(run.path, name, scorer.whole(lines))
        note(f"[{i}/{len(names)}] {name}: {len(todo):,} answer{'s' * (len(todo) != 1)} scored")
    return finish_stored(run, stored_references(config_of(run.record))).of(names)


def _declare(run: RunFolder, scorer: Scorer) -> None:
    """Writes what run.yaml says of tasks, after removing what was added in another way."""
    declared: dict[str, Any] = dict(run.record["declared"])
    tasks = {name: run.scores(name).task for name in scorer.cells}
    changes = {task: scorer.stale(task, declared[task]) for task in dict.fromkeys(tasks.values())}
    for task, change in changes.items():
        if change:
            note(f"{run.path}: {REMOVED.format(task=task)}")
    for name, task in tasks.items():
        if change := changes[task]:
            signals.check()
            write_samples(run.path, name, scorer.whole([change(of) for of in run.lines(name)]))
    added = {task: scorer.declared(task, declared[task]) for task in changes}
    write_run(run.path, {**run.record, "declared": {**declared, **added}})


def specs_of(run: RunFolder, folder: Folders | None) -> dict[str, TaskSpec]:
    """Returns the declarations of a run's tasks, as far as they are here, or in a folder of the user's own tasks."""
    folders = [*(task_folders(folder) if folder else ()), TASKS]
    known, found = set(task_names(folders)), {}
    for task, declared in run.record["declared"].items():
        name = task if task in known else task.removesuffix("_translate")
        if name in known:
            spec = load_task(name, folders, declared.get("options"))
            found[task] = spec if name == task else translated(spec)
    return found


def document_of(where: str, line: Sample) -> dict[str, Any]:
    """Returns the document of a stored answer.

    Raises:
        UserError: if it was not stored.
    """
    document: dict[str, Any] | None = line.get("doc")
    if not isinstance(document, dict):
        raise UserError(f"{where} was stored without its texts", "run again with --eval.log_samples true")
    return document
