"""Starts the jobs that are left, and shows on the screen how far they are."""

import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from afrieval._util.errors import UserError
from afrieval._util.registry import Registry
from afrieval._util.terminal import console, one_line, shortened
from afrieval._util.whole_files import made
from afrieval.config.files import run_config
from afrieval.config.settings import RunConfig
from afrieval.models.credentials import without_secrets
from afrieval.models.registry import check_backend_args
from afrieval.tasks.cells.plan import check_prompts
from afrieval.tasks.declaration.selection import chosen_tasks
from afrieval.tools.jobs.jobs import Executor, Job, held, write_jobs
from afrieval.tools.jobs.state import cells_of, read_state, reasons_of, store_end, write_state

Opened = Callable[[Path, Sequence[Job]], AbstractContextManager[Executor]]
# Modules by what starts jobs: `opened` yields the executor of some jobs, `check_installed` names what it lacks.
EXECUTORS: Registry[Any] = Registry(
    "executor", "afrieval.executors", {"local": "afrieval.tools.jobs.local:"}, needs=["opened", "check_installed"]
)


def start_left(folder: Path, jobs: Sequence[Job], opened: Opened, retry: bool) -> None:
    """Starts all jobs that are neither done nor running; those that have failed only if asked to.

    Raises:
        UserError: if another process has started the same jobs, or the executor cannot start them.
    """
    with held(made(folder), patience=0) as free:
        if not free:
            raise UserError(f"{folder} is in use by another process", "wait for it; --status shows a sweep")
        write_jobs(folder, jobs)
        for job in jobs if retry else ():
            state = read_state(folder, job)
            if state["status"] == "failed":
                for run in state["runs"]:
                    run |= {"status": "waiting", "reason": ""} if run["status"] == "failed" else {}
                write_state(folder, job, {**state, "status": "waiting", "reason": ""})
        left = [job for job in jobs if read_state(folder, job)["status"] in ("waiting", "stopped")]
        if left:
            with opened(folder, left) as executor:
                run_jobs(folder, left, executor)


def run_jobs(folder: Path, jobs: Sequence[Job], executor: Executor) -> None:
    """Runs jobs until all have ended, if the executor waits for them; Ctrl-C ends them, too."""
    if not executor.waits:
        executor.submit(jobs)
        return
    left = len(jobs)
    screen = Screen(folder, jobs)
    with screen.bar:
        try:
            executor.submit(jobs)
            while left:
                for ended in executor.poll():
                    if store_end(folder, ended):
                        executor.submit([ended.job])
                    else:
                        left -= 1
                        screen.ended(ended.job)
                screen.show()
        finally:
            executor.cancel()


def checked_config(options: dict[str, Any], where: str, checked: list[RunConfig]) -> RunConfig:
    """Returns the config of a run, after checking all but data and weights.

    `checked` grows by configs whose tasks were checked, which takes a tenth of a second for a suite.
    """
    try:
        for name, value in options.items():
            if name.startswith("model.backend_args") and without_secrets(value, name.rpartition(".")[2]) != value:
                message = f"{name} has a key or password, which job.yaml would store"
                raise UserError(message, "set it in the environment, as docs/apis.md explains")
        config = run_config(options, needs_model=True)
        check_backend_args(config.model)
        if config.model.api.server and config.model.api.base_url:
            problem = f"the model has server and base_url, {shortened(config.model.api.base_url)}"
            raise UserError(problem, "remove base_url, since the sweep starts the server, or remove server")
        if not any((config.task, config.data) == (other.task, other.data) for other in checked):
            for spec in chosen_tasks(config):
                check_prompts(spec, config.task)
            checked.append(config)
        return config
    except UserError as e:
        raise UserError(f"{where}: {e.message}", e.hint) from None


EVERY = 2.0  # seconds between looks at all states
SHOWN = ("running", "done", "failed", "stopped", "waiting")


class Screen:
    """Shows the states of jobs while they run.

    Attributes:
        bar: is on the screen while its block is open.
    """

    def __init__(self, folder: Path, jobs: Sequence[Job]):
        self._folder, self._jobs, self._latest = folder, jobs, -EVERY
        self._console = console(stderr=True)
        self.bar = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("cells"),
            TimeElapsedColumn(),
            console=self._console,
            transient=True,
            disable=not self._console.is_terminal,
        )
        self._task = self.bar.add_task("", total=None)

    def show(self) -> None:
        """Brings the line up to date, if it has been a while."""
        if self.bar.disable or time.monotonic() < self._latest + EVERY:
            return
        states = [read_state(self._folder, job) for job in self._jobs]
        counts = Counter[str](state["status"] for state in states)
        finished, cells = (sum(numbers) for numbers in zip(*map(cells_of, states), strict=True))
        words = ", ".join(f"{counts[name]} {name}" for name in SHOWN if counts[name])
        self.bar.update(self._task, description=words, completed=finished, total=cells or None)
        self._latest = time.monotonic()

    def ended(self, job: Job) -> None:
        """Prints how a job ended."""
        state = read_state(self._folder, job)
        finished, cells = cells_of(state)
        why = f": {reasons[0]}" if (reasons := reasons_of(state)) else f", {finished} of {cells} cells"
        self._console.print(one_line(f"{job.name} {state['status']}{why}"), soft_wrap=True)
