"""Asks the models of a race, each in a job and run folders of its own, and reads their answers at a look."""

import time
from collections.abc import Mapping, Sequence
from functools import cache, partial
from pathlib import Path

import numpy as np

from afrieval._util.errors import UserError
from afrieval.analysis.race import Race
from afrieval.analysis.ranks import Contest, contest
from afrieval.models.registry import backend_of
from afrieval.report.values import listed
from afrieval.results.cell_scores import CellScores
from afrieval.scoring.statistics.looks import FIRST
from afrieval.tasks.cells.task_cell import TaskCell
from afrieval.tools.jobs import local
from afrieval.tools.jobs.jobs import LOG, Job, job_folder, read_job, stored_jobs
from afrieval.tools.jobs.start import start_left
from afrieval.tools.jobs.state import STATE, read_state, reasons_of
from afrieval.tools.race.setup import Course, RaceModel, RaceSetup, sampled

OF_A_LOOK = ("eval.sample", "task.languages")  # options of runs that a race changes


def contests(setup: RaceSetup, course: Course, race: Race, size: int) -> list[Contest]:
    """Returns the contests of a look; models that have left keep the answers of their last look."""
    sides = [list[CellScores]() for _ in setup.models]
    for index, model in enumerate(setup.models):
        stored, at_look = model.stored(), race.left.get(index, size)
        for cell in model.cells_of(course.test_sets):
            if scores := stored.get(cell.name):
                rows = list(sampled(cell, at_look).rows.indices)
                sides[index].append(scores.take(np.flatnonzero(np.isin(scores.ids, rows))))
    return [
        contest([[cell for cell in side if cell.task == task] for side in sides], weight)
        for task, weight in course.weights.items()
    ]


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


def ask(setup: RaceSetup, cells_of: Mapping[RaceModel, Sequence[TaskCell]], size: int) -> bool:
    """Asks models what they have not answered of a sample; those on this machine one after the other.

    Returns:
        whether all of them are on this machine and took longer to load than to answer.

    Raises:
        UserError: if a model could not answer all of it.
    """
    left = [model for model, cells in cells_of.items() if not model.has(cells, size)]
    jobs = {model: Job(model.name, [*model.runs(cells_of[model], size)]) for model in left}
    configs = {model: model.session.config.model for model in left}  # a server that runs already shares no machine
    served = [m for m in left if not backend_of(configs[m].model_type).local and not configs[m].api.server]
    local = [model for model in left if model not in served]
    before, began = sum(model.seconds() for model in local), time.monotonic()
    _start(setup.folder, [jobs[model] for model in local], parallel=1)
    answering, took = sum(model.seconds() for model in local) - before, time.monotonic() - began
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


def cost_of(model: RaceModel, requests: int = 0) -> float:
    """Returns what a model has cost, and is expected to cost in all when it has had so many requests.

    A request costs as much as those before; before the first one, as much as a plan says that it may.

    Raises:
        UserError: if its prices are not known.
    """
    stored = model.stored()
    cost = sum(cell.usage.get("cost", 0.0) for cell in stored.values())
    had = sum(sampled(cell, stored[cell.name].rows).n_requests for cell in model.cells if cell.name in stored)
    if requests <= had:
        return cost
    price = cost / had if cost else most_per_request(model)
    if price is None:
        hint = "add api: {prices: {input: X, output: Y}} to its model file, or give --most-requests"
        raise UserError(f"--most-cost is given, but the prices of {model.name} are not known", hint)
    return cost + (requests - had) * price


@cache
def most_per_request(model: RaceModel) -> float | None:
    """Returns the most that a request to a model is planned to cost: 0 on this machine; None without prices."""
    if backend_of(model.session.config.model.model_type).local:
        return 0.0
    from afrieval.tools.plan.counting import total  # takes seconds, and most races need none of it
    from afrieval.tools.plan.plan import estimate
    from afrieval.tools.plan.tables import costs, prices_of

    if not (prices := prices_of(model.session.config.model)):
        return None
    size = total(estimate(model.session, [sampled(cell, FIRST) for cell in model.cells]).sizes)
    return sum(costs(size, prices)) / max(size.requests, 1)
