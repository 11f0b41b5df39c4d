"""Asks the models of a race, each in a job and run folders of its own, and reads their answers at a look."""

import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np

from afrieval._util.errors import UserError
from afrieval.analysis.race import Race
from afrieval.analysis.ranks import Contest, contest
from afrieval.report.values import listed
from afrieval.results.cell_scores import CellScores
from afrieval.results.comparable_runs import run_cells
from afrieval.results.run_folder import RunFolder
from afrieval.results.summary import works
from afrieval.tools.race.setup import Course, Place, RaceModel, RaceSetup, runs_of, sampled
from afrieval.tools.sweep.jobs import LOG, Job, job_folder, read_job, stored_jobs
from afrieval.tools.sweep.start import start_left
from afrieval.tools.sweep.state import read_state, reasons_of
from afrieval.tools.sweep.sweep_file import SweepFile

OF_A_LOOK = ("eval.sample", "task.languages")  # options of runs that a race changes
Languages = Mapping[str, Sequence[str]]  # of tasks


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

    def folder(self, model: RaceModel, task: str) -> RunFolder:
        """Returns the folder of a model's run."""
        return self._folders[model, task]

    def has(self, model: RaceModel, languages: Languages, size: int) -> bool:
        """Returns whether a model has answered a sample."""
        cells = [cell for place in _places(languages) for cell in model.cells[place]]
        return all(self.folder(model, c.task.name).has(c.name, sampled(c, size).n) for c in cells)

    def stored(self, model: RaceModel) -> list[CellScores]:
        """Returns the scores of a model on all rows that it was asked, in the race or before."""
        names = {cell.name for cells in model.cells.values() for cell in cells}
        runs = [self.folder(model, task) for task in model.folders]
        return [cell for run in runs if run.names for cell in run_cells(run, model.name) if cell.name in names]

    def contests(self, course: Course, race: Race, size: int) -> list[Contest]:
        """Returns what all models answered at a look; those that have left, in the looks before."""
        sides = [
            _of_sample(model, self.stored(model), race.left.get(at, size)) for at, model in enumerate(self._models)
        ]
        return [
            contest(
                [[c for c in side if c.task == task and c.language in codes] for side in sides], course.weights[task]
            )
            for task, codes in course.languages.items()
        ]

    def seconds(self, models: Iterable[RaceModel]) -> float:
        """Returns how long models have taken to answer, without being loaded."""
        runs = [self.folder(model, task) for model in models for task in model.folders]
        return sum(work.taken["seconds"] for run in runs for work in works(run.record, run.path))


def _of_sample(model: RaceModel, stored: Iterable[CellScores], size: int) -> list[CellScores]:
    """Returns the scores on the rows of a sample, of those that are stored."""
    cells = {cell.name: cell for of in model.cells.values() for cell in of}
    rows = {name: list(sampled(cell, size).rows.places) for name, cell in cells.items()}
    return [cell.take(np.flatnonzero(np.isin(cell.ids, rows[cell.name]))) for cell in stored]


def _places(languages: Languages) -> list[Place]:
    return [(task, code) for task, codes in languages.items() for code in codes]


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
            now = models[name].options.get(task, {})
            changed = [key for key in {**run, **now} if key not in OF_A_LOOK and run.get(key) != now.get(key)]
            languages = {code for of, code in models[name].cells if of == task}
            if setup.courses[0].language:  # a model that has left some is not asked in them
                languages &= {*run["task.languages"]}
            changed += ["task.languages"] if {*run["task.languages"]} != languages else []
            if changed:
                raise UserError(f"the folder {setup.folder} holds a race with another {changed[0]}", hint)


def ask(setup: RaceSetup, runs: Runs, wanted: Mapping[RaceModel, Languages], size: int) -> bool:
    """Asks models what they have not answered of a sample; those on this machine one after the other.

    Returns:
        whether all of them are on this machine and took longer to load than to answer.

    Raises:
        UserError: if a model could not answer all of it.
    """
    left = {model: of for model, of in wanted.items() if not runs.has(model, of, size)}
    served, here = [m for m in left if m.is_served], [m for m in left if not m.is_served]
    before, began = runs.seconds(here), time.monotonic()
    _start(setup.folder, {model: Job(model.name, [*runs_of(model, left[model], size)]) for model in here}, 1)
    answering, took = runs.seconds(here) - before, time.monotonic() - began
    _start(
        setup.folder, {model: Job(model.name, [*runs_of(model, left[model], size)]) for model in served}, len(served)
    )
    if missing := [model.name for model in left if not runs.has(model, left[model], size)]:
        hint = f"remove {setup.folder / 'jobs'}; what is in the run folders is not asked again"
        raise UserError(f"answers of {missing[0]} are missing in {setup.folder}", hint)
    return bool(here) and not served and took > 2 * answering


def _start(folder: Path, jobs: Mapping[RaceModel, Job], parallel: int) -> None:
    """Runs jobs, some at a time, until all have ended."""
    if not jobs:
        return
    sweep = SweepFile(models=["race"], suites=["race"], parallel=parallel)
    start_left(folder, [*jobs.values()], sweep, "local", retry=True)
    for job in jobs.values():
        state = read_state(folder, job)
        if state["status"] == "running":
            hint = "wait until it has ended, and give the same command again"
            raise UserError(f"{job.name} is still answering for another command, which may have been killed", hint)
        if state["status"] != "done":
            reason = next(iter(reasons_of(state)), "it was stopped")
            log = job_folder(folder, job.name) / LOG
            raise UserError(f"{job.name} did not answer: {reason}", f"see {log}; the same command continues the race")
