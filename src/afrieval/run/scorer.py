"""Adds measures to the stored answers of a run without the model that wrote them: by a network, a judge, or people."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
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
from afrieval.run.people_scores import is_of_another, levels_of, with_people, with_rubric, without_rubric
from afrieval.scoring.learned import JUDGED, learned_of, with_learned
from afrieval.scoring.rubric import Rubric
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


Answers = Sequence[tuple[AnswerAddress, Sample]]


@dataclass
class Scorer(ABC):
    """Adds a metric to stored answers.

    Attributes:
        run: the run.
        cells: the names of the cells that it is for.
        name: the metric's.
        rubrics: task to the rubric that its scores depend on; empty if they depend on none.
        removes: the words for a task whose measures by another rubric or model are removed.
        counts: whether to say how many answers of each cell were scored.
    """

    run: RunFolder
    cells: Sequence[str]
    name: str
    rubrics: Mapping[str, Rubric]
    removes = "{task} was judged, rated or scored in another way: that is removed, and it is scored anew"
    counts = True

    def opened(self, check: Callable[[], None]) -> AbstractContextManager[None]:
        """Opens what it needs until a block ends, in the locked folder of the run; `check` is as for `score_stored`."""
        return nullcontext()

    @abstractmethod
    def scored(self, answers: Answers) -> list[Sample]:
        """Returns the answers with their new measures."""

    def read(self, address: AnswerAddress, line: Sample) -> Any:
        """Returns the scorer's input for an answer; UserError if the line lacks it."""
        return line

    def lacks(self, address: AnswerAddress, line: Sample) -> bool:
        """Returns whether an answer is to be scored."""
        return not has_metric(line, self.name)

    def signature_of(self, task: str) -> str:
        """Returns the text of everything but the answers that a task's scores depend on; empty for the rubric alone."""
        return ""

    def notes_on(self, task: str) -> list[str]:
        """Returns sentences on the limits of a task's scores."""
        return []

    @property
    def rubrics_changed(self) -> list[str]:
        """The tasks whose stored judgements and ratings are by another rubric."""
        declared = self.run.record["declared"]
        return sorted(task for task, rubric in self.rubrics.items() if is_of_another(declared[task], rubric))


def lacking_metric(
    run: RunFolder, names: Sequence[str], metric: str, stale: Collection[str] = ()
) -> list[tuple[AnswerAddress, Sample]]:
    """Returns the scored answers of some cells that lack a metric, or are of a task of which it is stale."""
    answers = scored_answers(run, names)
    return [(address, line) for address, line in answers if line["task"] in stale or not has_metric(line, metric)]


def has_metric(line: Sample, metric: str) -> bool:
    """Returns whether an answer has an added metric, or a judgement that could not be parsed."""
    return metric in line["metrics"] or metric in line.get(JUDGED, {})


def score_stored(scorer: Scorer, check: Callable[[], None]) -> Summary:
    """Scores the answers that lack a metric, and writes them cell by cell; a stopped call loses one cell.

    First go measures by another rubric or model, then run.yaml says what the new ones are by, then they are added: so
    nothing that is stored is ever said to be by what it is not, wherever this is stopped.

    Args:
        scorer: scores the answers; the folder of its run is locked.
        check: checks that the folder is still there.

    Raises:
        UserError: if an answer cannot be scored; before any is.
    """
    run, names = scorer.run, scorer.cells
    with scorer.opened(check):
        for address, line in scored_answers(run, names):
            scorer.read(address, line)
        _declare(scorer, check)
        for number, name in enumerate(names, 1):
            signals.check()
            n, lines = with_scores(scorer, name, list(run.lines(name)))
            if n:
                check()
                write_samples(run.path, name, lines)
            if n and scorer.counts:
                note(f"[{number}/{len(names)}] {name}: {n:,} answer{'s' * (n != 1)} scored")
    return finish_stored(run, stored_references(config_of(run.record))).of(names)


def with_scores(scorer: Scorer, name: str, lines: Sequence[Sample]) -> tuple[int, list[Sample]]:
    """Returns how many answers of a cell were scored, and its lines with their measures, also those that follow."""
    addresses = [AnswerAddress(scorer.run.path, name, line["doc_id"]) for line in lines]
    pairs = zip(addresses, lines, strict=True)
    todo = [i for i, (address, line) in enumerate(pairs) if line["metrics"] and scorer.lacks(address, line)]
    scored = list(lines)
    if not todo:
        return 0, scored
    for i, line in zip(todo, scorer.scored([(addresses[i], lines[i]) for i in todo]), strict=True):
        scored[i] = line
    task = lines[0]["task"]
    rubric = scorer.rubrics.get(task)
    return len(todo), with_people(scored, rubric.levels if rubric else levels_of(scorer.run, task))


def stale_part(scorer: Scorer, task: str) -> Callable[[Sample], Sample] | None:
    """Returns a function that removes measures by another rubric or model from an answer; None if a task has none."""
    declaration, rubric = scorer.run.record["declared"][task], scorer.rubrics.get(task)
    if rubric and is_of_another(declaration, rubric):
        return without_rubric
    ours = scorer.signature_of(task)
    same = not ours or declaration.get("signatures", {}).get(scorer.name, ours) == ours
    return None if same else partial(_without, scorer.name)


def _declare(scorer: Scorer, check: Callable[[], None]) -> None:
    """Removes what was added in another way, then writes to run.yaml what the new measures are by."""
    run, declared = scorer.run, dict[str, Any](scorer.run.record["declared"])
    tasks = {name: run.scores(name).task for name in scorer.cells}
    parts = {task: stale_part(scorer, task) for task in dict.fromkeys(tasks.values())}
    for task in parts:
        if parts[task]:
            note(f"{run.path}: {scorer.removes.format(task=task)}")
    for name, task in tasks.items():
        if remove := parts[task]:
            signals.check()
            check()
            write_samples(run.path, name, with_people(list(map(remove, run.lines(name))), levels_of(run, task)))
    for task in parts:
        signature, rubric = scorer.signature_of(task), scorer.rubrics.get(task)
        ours = {scorer.name: signature} if signature else {}
        declaration = declared[task]
        declared[task] = with_rubric(declaration, rubric, ours) if rubric else merged(declaration, {"signatures": ours})
    write_run(run.path, {**run.record, "declared": declared})


def _without(metric: str, line: Sample) -> Sample:
    measures = {name: of for name, of in learned_of(line).items() if name != metric}
    judgements = {name: of for name, of in line.get(JUDGED, {}).items() if name != metric}
    bare = {name: of for name, of in line.items() if name != JUDGED} | ({JUDGED: judgements} if judgements else {})
    return with_learned(bare, measures) if line["metrics"] else bare
