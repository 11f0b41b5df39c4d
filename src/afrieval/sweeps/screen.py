"""How far a sweep is, on the screen: a line that changes in a terminal, and one line per job that ends elsewhere."""

import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from afrieval.sweeps.jobs import Job
from afrieval.sweeps.state import cells_of, read_state, reasons_of
from afrieval.terminal import console, one_line

EVERY = 2.0  # seconds between looks at all states
SHOWN = ("running", "done", "failed", "stopped", "waiting")


class Screen:
    """Shows the states of jobs while they run.

    Args:
        folder: of the sweep.
        jobs: those to show.
    """

    def __init__(self, folder: Path, jobs: Sequence[Job]):
        self._folder, self._jobs, self._latest = folder, jobs, -EVERY
        self._console = console(stderr=True)
        self._bar = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("cells"),
            TimeElapsedColumn(),
            console=self._console,
            transient=True,
            disable=not self._console.is_terminal,
        )
        self._task = self._bar.add_task("", total=None)

    def show(self) -> None:
        """Brings the line up to date, if it has been a while."""
        if self._bar.disable or time.monotonic() < self._latest + EVERY:
            return
        states = [read_state(self._folder, job) for job in self._jobs]
        counts = Counter[str](state["status"] for state in states)
        finished, cells = (sum(numbers) for numbers in zip(*map(cells_of, states), strict=True))
        words = ", ".join(f"{counts[name]} {name}" for name in SHOWN if counts[name])
        self._bar.update(self._task, description=words, completed=finished, total=cells or None)
        self._latest = time.monotonic()

    def ended(self, job: Job) -> None:
        """Prints how a job ended."""
        state = read_state(self._folder, job)
        finished, cells = cells_of(state)
        why = f": {reasons[0]}" if (reasons := reasons_of(state)) else f", {finished} of {cells} cells"
        self._console.print(one_line(f"{job.name} {state['status']}{why}"), soft_wrap=True)

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, tb: TracebackType | None) -> None:
        self._bar.stop()
