"""Scores the stored answers of a run again, without its model."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from itertools import tee
from pathlib import Path
from typing import Any, NamedTuple

from afrieval._util import signals
from afrieval._util.errors import UserError
from afrieval._util.files import user_path
from afrieval._util.schema import validated
from afrieval._util.stamps import now
from afrieval.config.settings import RunConfig
from afrieval.models.answer_file import AnswerFile
from afrieval.results.cell_scores import CellScores
from afrieval.results.changes import alike, has_moved, score_differences
from afrieval.results.identity import SCORING, differences, merged
from afrieval.results.run_files import RUN, is_halfway, write_run, write_samples
from afrieval.results.run_folder import RunFolder
from afrieval.results.samples import Sample
from afrieval.results.schema import RunRecord
from afrieval.run.finish import config_of, finish_stored, stored_references
from afrieval.run.manifest import answer_path, software
from afrieval.run.people_scores import levels_of, with_people
from afrieval.scoring.learned import JUDGED, RATINGS, is_learned, with_learned
from afrieval.scoring.user_code import FILES
from afrieval.tasks.cells.cell import RunPart
from afrieval.tasks.cells.plan import declared_cells
from afrieval.tasks.cells.rescored import RUN_AGAIN, with_new_scores
from afrieval.tasks.cells.task_cell import TaskCell
from afrieval.tasks.declaration.kinds import KINDS_FILE
from afrieval.tasks.declaration.selection import named_folders
from afrieval.tasks.declaration.spec import TASKS, task_files

CHECKED = ("prompts", "data")  # hashes without which nothing shows that the same was asked
NO_TOKENS = "the run kept no likelihoods of single tokens (eval.use_cache)"
OTHER_DATA = "name the data of the run with --data.source; if they have changed, run the model again"
OF_HARNESS = "a task of the harness, which scores it"
NOT_STORED = "not all that it needs is stored"


class Changed(NamedTuple):
    """A document with a new line in its sample file.

    Attributes:
        row: of the document.
        before: the extracted answer before.
        after: the extracted answer now.
        line: its number in the file.
        what: that differs from what was stored; a key that was not stored does not.
    """

    row: int
    before: Any
    after: Any
    line: int
    what: list[str]


@dataclass(frozen=True)
class Again:
    """A cell whose answers were scored again, and its documents with new lines.

    Attributes:
        stale: whether it has added metrics, and not all of its answers are still those that they are of.
    """

    cell: TaskCell
    before: CellScores
    after: CellScores
    changed: list[Changed]
    stale: bool

    @property
    def moved(self) -> bool:
        """Whether a score, measure or extracted answer that was stored differs now; a new metric does not count."""
        return any(of.before != of.after for of in self.changed) or has_moved(self.before, self.after)


@dataclass(frozen=True)
class Rescored:
    """A run whose answers were scored again.

    Attributes:
        left_out: a line for each task that was not.
        versions: task to its version, before and now.
        files: task to its file.
        reread: the tasks that are read with other options of their extractor.
    """

    run: RunFolder
    cells: list[Again]
    left_out: list[str]
    versions: dict[str, tuple[int, int]]
    files: Mapping[str, Path]
    reread: Collection[str] = ()

    @property
    def moved(self) -> list[str]:
        """The tasks of which something moved."""
        return list(dict.fromkeys(again.before.task for again in self.cells if again.moved))

    def check_versions(self) -> None:
        """Rejects scores that moved although the version of their task did not.

        Raises:
            UserError: naming the task and its file.
        """
        for task in (task for task in self.moved if task not in self.reread):
            old, new = self.versions[task]
            if old == new:
                file = self.files.get(task) or self.files[task.removesuffix("_translate")]
                problem = (
                    f"scores of {task} moved, but its version is still {new}; nothing is written to {self.run.path}"
                )
                raise UserError(problem, f"raise version: in {file}, so that new scores are not compared with old ones")


def rescored(
    run: RunFolder,
    source: str | None = None,
    folder: str | list[str] | None = None,
    locked: bool = True,
    extract: Mapping[str, bool] | None = None,
) -> Rescored:
    """Scores the answers of a run again; writes nothing.

    Args:
        run: its folder.
        source: where the data comes from; None for where the run got it.
        folder: of the user's own tasks; if not given, those of the run, unless there is code in them.
        locked: whether the folder is; if not, its file of answers is not opened, and tasks that need it are left out.
        extract: options of extractors; if not given, those that the answers were read with.

    Raises:
        UserError: if prompts, documents or limits have changed, data are missing, a file is damaged, or a task is
            older than the run.
    """
    configs = list(_configs(run, source, folder, extract))
    planned = _planned(run, configs)
    with AnswerFile(_answers_of(run, planned if locked else ())) as answers:
        cells, left_out = _supported(run, planned, answers)
        _check_same(run, cells)
        versions = _versions(run.record, cells)
        cells_again = []
        for cell in cells:
            signals.check()
            before, declared = run.scores(cell.name), cell.facts["declared"][cell.key.task]
            changed: list[Changed] = []  # without the lines: `write` makes them again, so that memory holds one cell
            after = run.scored(cell.name, _new_lines(run, cell, answers, changed), declared)
            stale = any(map(is_learned, before.metrics)) and any(each.before != each.after for each in changed)
            if stale:
                lines = _without_judged(run, cell, _new_lines(run, cell, answers, changed := []))
                after = run.scored(cell.name, lines, declared)
            cells_again.append(Again(cell, before, after, changed, stale))
    folders = [folder for config in configs for folder in (TASKS, *named_folders(config.task))]
    files = {name: path for folder in folders for name, path in task_files(folder).items()}
    stored, read = run.record["identity"]["tasks"], [pair for cell in cells for pair in cell.identity["tasks"].items()]
    reread = {task for task, identity in read if extract and identity.get("extract") != stored[task].get("extract")}
    return Rescored(run, cells_again, left_out, versions, files, reread)


def _answers_of(run: RunFolder, cells: Iterable[TaskCell]) -> Path | None:
    """Returns the file with the answers that samples do not have, if some cells of a locked run need it."""
    path = answer_path(run.path, dict(run.record["identity"]["model"]))
    return path if any(cell.needs for cell in cells) and path.exists() else None


def _without_judged(run: RunFolder, cell: TaskCell, lines: Iterable[Sample]) -> list[Sample]:
    """Returns the samples of a stale cell without added metrics, but for ratings of answers that did not change."""
    bare = [with_learned(line, {}) if line["metrics"] else line for line in lines]
    return with_people([_without(line, JUDGED) for line in bare], levels_of(run, cell.key.task))


def _without(line: Sample, *keys: str) -> Sample:
    return {name: of for name, of in line.items() if name not in keys}


def _new_lines(run: RunFolder, cell: TaskCell, answers: AnswerFile, changed: list[Changed]) -> Iterator[Sample]:
    """Yields the samples of a cell with the scores that their answers get now, and adds new ones to `changed`."""
    stored, copies = tee(run.lines(cell.name))  # in step, so that a large file is never in memory as a whole
    for number, (old, new) in enumerate(zip(stored, with_new_scores(cell, answers, copies), strict=True), 1):
        if new is not old:
            what = score_differences(old, new)
            changed.append(Changed(old["doc_id"], old.get("answer"), new.get("answer"), number, what))
        # what a judge or people said of another answer is not said of this one
        yield new if old.get("answer") == new.get("answer") else _without(new, JUDGED, RATINGS)


def _planned(run: RunFolder, configs: Iterable[RunConfig]) -> list[TaskCell]:
    """Returns the stored cells that can be scored again, planned from the settings of the run's sessions."""
    stored = [run.scores(name) for name in run.names]
    rows_of = {of.name: of.rows for of in stored if not of.harness and of.declared.get("rescorable", True)}
    sampled = any(of.selection.kind == "sample" for of in stored)
    likelihoods = any(task["answer_form"] != "generate" for task in run.record["identity"].get("tasks", {}).values())
    planned_cells: dict[str, TaskCell] = {}
    left_out: list[str] = []
    for config in configs:
        missing = {name: rows for name, rows in rows_of.items() if name not in planned_cells}
        if not missing:
            break
        cells, lines = declared_cells(config, likelihoods)
        left_out += lines
        planned_cells |= {cell.name: cell for cell in cells if missing.get(cell.name) == cell.n}
        others = {cell.name for cell in cells} & missing.keys() - planned_cells.keys()
        for rows in {missing[name] for name in others}:  # of a session with another limit or sample
            limit, sample = (None, rows) if sampled else (rows, None)
            limited = replace(config, eval=replace(config.eval, limit=limit, sample=sample))
            again, _ = declared_cells(limited, likelihoods)
            planned_cells |= {cell.name: cell for cell in again if missing.get(cell.name) == cell.n}
    if lacking := [name for name in rows_of if name not in planned_cells]:
        why = f" ({left_out[0]})" if left_out else ""
        problem = (
            f"{run.path} has {rows_of[lacking[0]]} documents of {lacking[0]}, which the same settings do not give now"
        )
        raise UserError(f"{problem}{why}", OTHER_DATA)
    return list(planned_cells.values())


def _configs(
    run: RunFolder,
    source: str | None,
    folder: str | list[str] | None,
    extract: Mapping[str, bool] | None,
) -> Iterator[RunConfig]:
    """Yields the different settings of a run's sessions with declared tasks, the last first."""
    seen: list[RunConfig] = []
    read = {name: on for of in run.record.get("declared", {}).values() for name, on in of.get("extract", {}).items()}
    for session in reversed(run.record.get("visits", [])):
        hint = "another version wrote it; score the run with that version, or run the model again"
        config = validated(RunConfig, session.get("config"), f"{run.path / RUN}: config", hint)
        config = replace(
            config,
            eval=replace(config.eval, log_samples=True),  # samples without texts stay so
            data=replace(config.data, source=source or config.data.source),
            task=replace(config.task, folder=folder or config.task.folder, extract={**(extract or read)}),
        )
        if not folder:
            _check_no_code(run, config.task.folders)
        without_device = replace(config, model=replace(config.model, device=None))
        if config.task.names and not config.task.coded and without_device not in seen:
            seen.append(without_device)
            yield config


def _check_no_code(run: RunFolder, folders: Iterable[str]) -> None:
    """Refuses to run code from a folder that run.yaml names, and not the user: anybody may have written it."""
    for folder in folders:
        for task in task_files(user_path(folder)).values():
            if code := [path for name in (*FILES, KINDS_FILE) if (path := task.parent / name).is_file()]:
                problem = f"{run.path} has tasks of {folder}, and scoring them again runs {code[0]}"
                raise UserError(problem, f"if that is what you want, give --task.folder {folder}")


def _supported(run: RunFolder, cells: Sequence[TaskCell], answers: AnswerFile) -> tuple[list[TaskCell], list[str]]:
    """Returns the cells that can be scored again, and a line for each task that cannot."""
    supported = [cell for cell in cells if not (cell.needs and not len(answers))]
    lacking = {cell.key.task: NO_TOKENS for cell in cells if cell not in supported}
    names = {cell.name for cell in cells}
    others = [run.scores(name) for name in run.names if name not in names]
    lacking |= {of.task: OF_HARNESS if of.harness else NOT_STORED for of in others}
    lines = [f"{task}: {why}" for task, why in lacking.items()]
    if not supported:
        why = f" ({'; '.join(lines)})" if lines else ""
        raise UserError(f"{run.path} has nothing that can be scored again{why}", "run the model again")
    return supported, lines


def _check_same(run: RunFolder, cells: Sequence[TaskCell]) -> None:
    """Rejects prompts, data and examples that differ from the run's."""
    for cell in cells:
        task = cell.key.task
        described = cell.identity["tasks"][task]
        # samples show what matters of the rest of a declaration
        fixed = {name: value for name, value in described.items() if name not in SCORING}
        if misfits := differences(run.record["identity"], {**cell.identity, "tasks": {task: fixed}}):
            hint = OTHER_DATA if ".data." in misfits[0] else RUN_AGAIN
            raise UserError(f"{run.path} cannot be scored again: {misfits[0]}", hint)
        stored: Any = run.record["identity"].get("tasks", {}).get(task, {})
        if lacking := [part for part in CHECKED if _names(described[part]) - _names(stored.get(part))]:
            problem = f"{run.path / RUN} does not say which {lacking[0]} of {cell.name} the run had"
            raise UserError(problem, "restore the file from a copy, or run the model again")


def _names(part: Any) -> set[tuple[str, str]]:
    """Returns the language and the prompt, or split, of each hash."""
    languages = part if isinstance(part, dict) else {}
    return {(code, str(name)) for code, of in languages.items() if isinstance(of, dict) for name in of}


def _versions(record: RunRecord, cells: Sequence[TaskCell]) -> dict[str, tuple[int, int]]:
    """Returns each task's version in the run and now."""
    versions = {}
    for cell in cells:
        task = cell.key.task
        old, new = record["identity"]["tasks"][task]["version"], cell.identity["tasks"][task]["version"]
        if new < old:
            problem = f"the run has version {old} of {task}, and its task file here is version {new}"
            hint = "install the version of afrieval, or use the task files, that the run was made with"
            raise UserError(problem, hint)
        versions[task] = (old, new)
    return versions


# What is declared of a language, which other cells may be of, and of what was added to stored answers.
NOT_OF_TASK = ("unreviewed", "english_system", "defective", "rubric")


def is_new(rescored: Rescored) -> bool:
    """Returns whether a run has to be written: its samples, versions or declarations are new, or it is half written."""
    return (
        is_halfway(rescored.run.record)
        or any(of.changed for of in rescored.cells)
        or not alike(_record(rescored), rescored.run.record)
    )


def write(rescored: Rescored) -> None:
    """Writes samples, run.yaml, and all files that are computed from them.

    run.yaml is marked first and last. Readers refuse a folder that is halfway, and scoring it again finishes it.

    Raises:
        UserError: as for `finish_stored`.
    """
    run, stored, new = rescored.run, rescored.run.record, _record(rescored)
    begun = [again["tasks"] for again in stored.get("rescored", []) if not again["finished"]]
    before: dict[str, list[int]] = begun[0] if begun else {}  # the versions before a call that was stopped
    versions = {task: [before.get(task, [old])[0], new] for task, (old, new) in rescored.versions.items()}
    entry: RunPart = {"date": now(), **software(), "tasks": versions, "finished": False}
    history = [again for again in stored.get("rescored", []) if again["finished"]]
    write_run(run.path, {**stored, "rescored": [*history, entry]})
    changed = [again for again in rescored.cells if again.changed]
    with AnswerFile(_answers_of(run, [again.cell for again in changed])) as answers:
        for again in changed:
            signals.check()
            lines = _new_lines(run, again.cell, answers, [])
            write_samples(run.path, again.cell.name, _without_judged(run, again.cell, lines) if again.stale else lines)
    write_run(run.path, {**new, "rescored": [*history, entry]})
    finish_stored(run, stored_references(config_of(run.record)))
    write_run(run.path, {**new, "rescored": [*history, {**entry, "finished": True}]})


def _record(rescored: Rescored) -> dict[str, Any]:
    """Returns run.yaml with the versions and declarations of tasks as they are now."""
    record: RunRecord = rescored.run.record
    cells = [again.cell for again in rescored.cells]
    stored: RunPart = {**record["identity"]}
    # the extractor may be another one now, with other options
    tasks = {
        task: {name: value for name, value in of.items() if name != "extract" or task not in rescored.versions}
        for task, of in stored["tasks"].items()
    }
    identity: RunPart = reduce(merged, (cell.identity for cell in cells), {**stored, "tasks": tasks})
    declared: RunPart = reduce(merged, (cell.facts["declared"] for cell in cells), {})
    before = record.get("declared", {})
    for task, now_declared in declared.items():
        of_others = {name: before[task][name] for name in NOT_OF_TASK if name in before.get(task, {})}  # type: ignore[literal-required]
        signatures = before.get(task, {}).get("signatures", {})
        if added := {name: of for name, of in signatures.items() if is_learned(name)}:
            of_others["signatures"] = added
        declared[task] = {**now_declared, **{k: merged(of, now_declared.get(k, {})) for k, of in of_others.items()}}
    return {**record, "identity": identity, "declared": {**before, **declared}}
