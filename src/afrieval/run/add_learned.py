"""Adds a metric to the stored answers of a run, without the model that wrote them."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from afrieval._util import signals
from afrieval._util.errors import UserError
from afrieval._util.terminal import note
from afrieval.results.identity import merged
from afrieval.results.run_files import write_run, write_samples
from afrieval.results.run_folder import RunFolder
from afrieval.results.samples import Sample
from afrieval.run.finish import Summary, config_of, finish_stored, stored_references
from afrieval.run.people_scores import is_of_another, with_people, with_rubric, without_rubric
from afrieval.scoring.learned import JUDGED, learned_of, with_learned
from afrieval.scoring.rubric import Rubric
from afrieval.tasks.declaration.spec import TASKS, Folders, TaskSpec, load_task, task_folders, task_names, translated

Declaration = Mapping[str, Any]  # of a task, as run.yaml has it
Change = Callable[[Sample], Sample]

REMOVED = "{task} was judged, rated or scored in another way: that is removed, and it is scored anew"


class AnswerAddress(NamedTuple):
    """The run, the cell and the document of a stored answer; as a text, for messages."""

    run: Path
    cell: str
    row: int

    def __str__(self) -> str:
        return f"{self.run}: {self.cell}, document {self.row}"


@dataclass(frozen=True)
class Scorer(ABC):
    """What adds a metric to stored answers: COMET, or a judge.

    Attributes:
        run: the run.
        cells: the cells that it is for.
        name: the metric's.
        rubrics: task to the rubric that scores depend on; empty for COMET.
    """

    run: RunFolder
    cells: Sequence[str]
    name: str
    rubrics: Mapping[str, Rubric]

    @abstractmethod
    def read(self, address: AnswerAddress, line: Sample) -> Any:
        """Returns the scorer's input for a stored answer; UserError if the sample lacks it."""

    @abstractmethod
    def scored(self, lines: Sequence[Sample], needed: Sequence[Any]) -> list[Sample]:
        """Returns the answers with their new measures."""

    @abstractmethod
    def signature_of(self, task: str) -> str:
        """Returns the text of everything but the answers that scores of a task depend on."""

    def counts(self, task: str) -> list[str]:
        """Returns sentences on the limits of a task's scores."""
        return []


def lacking(
    run: RunFolder, names: Sequence[str], metric: str, stale: Collection[str] = ()
) -> list[tuple[AnswerAddress, Sample]]:
    """Returns the scored answers of some cells that do not have a metric, or are of a task of which it is stale."""
    return [of for of in scored_answers(run, names) if of[1]["task"] in stale or not _has(of[1], metric)]


def scored_answers(run: RunFolder, names: Iterable[str]) -> Iterator[tuple[AnswerAddress, Sample]]:
    """Yields the scored answers of some cells: all but defective ones."""
    for name in names:
        for line in run.lines(name):
            if line["metrics"]:
                yield AnswerAddress(run.path, name, line["doc_id"]), line


def _has(line: Sample, metric: str) -> bool:
    """Returns whether an answer has the metric, or a judgement that could not be parsed."""
    return metric in line["metrics"] or metric in line.get(JUDGED, {})


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
    needed = {(at.cell, at.row): scorer.read(at, line) for at, line in scored_answers(run, names)}
    declared = _declare(run, scorer)
    for i, name in enumerate(names, 1):
        signals.check()
        lines = list(run.lines(name))
        todo = [at for at, line in enumerate(lines) if line["metrics"] and not _has(line, scorer.name)]
        if not todo:
            continue
        scored = scorer.scored([lines[at] for at in todo], [needed[name, lines[at]["doc_id"]] for at in todo])
        for index, line in zip(todo, scored, strict=True):
            lines[index] = line
        check()
        write_samples(run.path, name, with_people(lines, _levels(declared[lines[0]["task"]])))
        note(f"[{i}/{len(names)}] {name}: {len(todo):,} answer{'s' * (len(todo) != 1)} scored")
    return finish_stored(run, stored_references(config_of(run.record))).of(names)


def _declare(run: RunFolder, scorer: Scorer) -> dict[str, Any]:
    """Writes what run.yaml says of tasks, after removing what was added in another way, and returns it."""
    declared: dict[str, Any] = dict(run.record["declared"])
    tasks = {name: run.scores(name).task for name in scorer.cells}
    changes = {task: _change(scorer, task, declared[task]) for task in dict.fromkeys(tasks.values())}
    for task, change in changes.items():
        if change:
            note(f"{run.path}: {REMOVED.format(task=task)}")
    for name, task in tasks.items():
        if change := changes[task]:
            signals.check()
            write_samples(run.path, name, with_people(list(map(change, run.lines(name))), _levels(declared[task])))
    for task in changes:
        ours, rubric = {scorer.name: scorer.signature_of(task)}, scorer.rubrics.get(task)
        declaration = declared[task]
        declared[task] = with_rubric(declaration, rubric, ours) if rubric else merged(declaration, {"signatures": ours})
    write_run(run.path, {**run.record, "declared": declared})
    return declared


def _levels(declared: Declaration) -> Mapping[str, str]:
    levels: Mapping[str, str] = declared.get("rubric", {}).get("levels", {})
    return levels


def _change(scorer: Scorer, task: str, declaration: Declaration) -> Change | None:
    """Returns a function that removes measures by another rubric or model from an answer; None if it has none."""
    if (rubric := scorer.rubrics.get(task)) and is_of_another(declaration, rubric):
        return without_rubric
    ours = scorer.signature_of(task)
    same = declaration.get("signatures", {}).get(scorer.name, ours) == ours
    return None if same else partial(_without, scorer.name)


def _without(metric: str, line: Sample) -> Sample:
    measures = {name: of for name, of in learned_of(line).items() if name != metric}
    judgements = {name: of for name, of in line.get(JUDGED, {}).items() if name != metric}
    bare = {name: of for name, of in line.items() if name != JUDGED} | ({JUDGED: judgements} if judgements else {})
    return with_learned(bare, measures) if line["metrics"] else bare


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


def document_of(where: AnswerAddress, line: Sample, shows: Sequence[str] = ()) -> dict[str, Any]:
    """Returns the document of a stored answer.

    Args:
        where: the answer's address.
        line: the answer.
        shows: fields that its rubric shows.

    Raises:
        UserError: if it was not stored, or without these fields.
    """
    document: dict[str, Any] | None = line.get("doc")
    if not isinstance(document, dict):
        raise UserError(f"{where} was stored without its texts", "run again with --eval.log_samples true")
    if missing := [name for name in shows if name not in document]:
        problem = f"{where} was stored without {missing[0]}, which the rubric shows"
        raise UserError(problem, "run again: the task had other fields")
    return document
