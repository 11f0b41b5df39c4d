"""Asks the models of a race, each in a job and run folders of its own, and reads their answers at a look."""

import time
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path

import numpy as np

from afrieval._util.errors import UserError
from afrieval.analysis.race import Race
from afrieval.analysis.ranks import Contest, contest
from afrieval.models.registry import backend_of
from afrieval.report.values import listed
from afrieval.results.cell_scores import CellScores
from afrieval.results.comparable_runs import run_cells
from afrieval.results.run_folder import RunFolder
from afrieval.results.summary import works
from afrieval.tasks.cells.task_cell import TaskCell
from afrieval.tools.jobs import local
from afrieval.tools.jobs.jobs import LOG, Job, job_folder, read_job, stored_jobs
from afrieval.tools.jobs.start import start_left
from afrieval.tools.jobs.state import STATE, read_state, reasons_of
from afrieval.tools.race.setup import Course, RaceModel, RaceSetup, sampled

OF_A_LOOK = ("eval.sample", "task.languages")  # options of runs that a race changes


class Runs:
    """The run folders of a race.

    Args:
        setup: the race.
    """

    def __init__(self, setup: RaceSetup):
        self._models = setup.models
        self._folders = {
            (model, task): RunFolder(setup.folder / place)
            for model in setup.models
            for task, place in model.folders.items()
        }

    def has(self, model: RaceModel, cells: Sequence[TaskCell], size: int) -> bool:
        """Returns whether a model has answered a sample."""
        return all(self._folders[model, cell.task.name].has(cell.name, sampled(cell, size).n) for cell in cells)

    def stored(self, model: RaceModel) -> dict[str, CellScores]:
        """Returns the scores of a model by cell, on all rows that it was asked, in the race or before."""
        runs, names = self._of_model(model), {cell.name for cell in model.cells}
        cells = [cell for run in runs if run.names for cell in run_cells(run, model.name)]
        return {cell.name: cell for cell in cells if cell.name in names}

    def contests(self, course: Course, race: Race, size: int) -> list[Contest]:
        """Returns the contests of a look; models that have left keep the answers of their last look."""
        sides = [self._sampled(model, course, race.left.get(at, size)) for at, model in enumerate(self._models)]
        return [
            contest([[cell for cell in side if cell.task == task] for side in sides], weight)
            for task, weight in course.weights.items()
        ]

    def _sampled(self, model: RaceModel, course: Course, size: int) -> list[CellScores]:
        """Returns the scores of a model on the rows of a sample."""
        stored, sampled_cells = self.stored(model), list[CellScores]()
        for cell in model.cells_of(course.test_sets):
            if scores := stored.get(cell.name):
                rows = list(sampled(cell, size).rows.indices)
                sampled_cells.append(scores.take(np.flatnonzero(np.isin(scores.ids, rows))))
        return sampled_cells

    def seconds(self, models: Iterable[RaceModel]) -> float:
        """Returns how long models have taken to answer, without being loaded."""
        runs = [run for model in models for run in self._of_model(model)]
        return sum(work.amount["seconds"] for run in runs for work in works(run.record, run.path))

    def _of_model(self, model: RaceModel) -> list[RunFolder]:
        return [self._folders[model, task] for task in model.folders]


def check_same_race(setup: RaceSetup) -> None:
    """Refuses a folder in which other models, or models with other settings, were raced.

    Raises:
        UserError: naming the first difference.
    """
    if not (setup.folder / "runs").exists():
        return
    hint = "give another folder with --out, or the models and settings that this one was begun with"
    models, names = {model.name: model for model in setup.models}, stored_jobs(setup.folder)
    if {*models} != {*names}:
        raise UserError(f"the folder {setup.folder} holds a race of {listed(names)}, not of {listed([*models])}", hint)
    for name in names:
        for run in read_job(setup.folder, name).runs:
            task = run["task.task_name"]
            options = models[name].options.get(task, {})
            changed = [key for key in {**run, **options} if key not in OF_A_LOOK and run.get(key) != options.get(key)]
            languages = {cell.language for cell in models[name].cells if cell.task.name == task}
            if setup.courses[0].language:  # a model that has left some is not asked in them
                languages &= {*run["task.languages"]}
            changed += ["task.languages"] if {*run["task.languages"]} != languages else []
            if changed:
                raise UserError(f"the folder {setup.folder} holds a race with another {changed[0]}", hint)


def ask(setup: RaceSetup, runs: Runs, cells_of: Mapping[RaceModel, Sequence[TaskCell]], size: int) -> bool:
    """Asks models what they have not answered of a sample; those on this machine one after the other.

    Returns:
        whether all of them are on this machine and took longer to load than to answer.

    Raises:
        UserError: if a model could not answer all of it.
    """
    left = [model for model, cells in cells_of.items() if not runs.has(model, cells, size)]
    jobs = {model: Job(model.name, [*model.runs(cells_of[model], size)]) for model in left}
    configs = {model: model.session.config.model for model in left}  # a server that runs already shares no machine
    served = [m for m in left if not backend_of(configs[m].model_type).local and not configs[m].api.server]
    local = [model for model in left if model not in served]
    before, began = runs.seconds(local), time.monotonic()
    _start(setup.folder, [jobs[model] for model in local], parallel=1)
    answering, took = runs.seconds(local) - before, time.monotonic() - began
    _start(setup.folder, [jobs[model] for model in served], parallel=len(served))
    return bool(local) and not served and took > 2 * answering


def _start(folder: Path, jobs: Sequence[Job], parallel: int) -> None:
    """Runs jobs, some at a time, until all have ended."""
    for job in jobs:
        (job_folder(folder, job.name) / STATE).unlink(missing_ok=True)  # run folders say what is left
    if jobs:
        start_left(folder, jobs, partial(local.opened, parallel=parallel), retry=False)
    for job in jobs:
        state = read_state(folder, job)
        if state["status"] == "running":
            hint = "wait until it has ended, and give the same command again"
            raise UserError(f"{job.name} is still answering for another command, which may have been killed", hint)
        if state["status"] != "done":
            reason = next(iter(reasons_of(state)), "it was stopped")
            log = job_folder(folder, job.name) / LOG
            raise UserError(f"{job.name} did not answer: {reason}", f"see {log}; the same command continues the race")
