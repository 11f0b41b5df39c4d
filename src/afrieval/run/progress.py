"""Shows the running cell, the progress and the remaining time."""

import time
from collections.abc import Sequence
from types import TracebackType
from typing import Self

from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.progress import Progress as Bar

from afrieval.tasks.cell import Cell
from afrieval.terminal import console, one_line


class Progress:
    """A bar over all requests in a terminal; one line per finished cell elsewhere, as in a batch job's log.

    Args:
        cells: the cells to run.
        bar: False for lines even in a terminal, if prompts are printed in between.
        quiet: True to print nothing, if another process does.
    """

    def __init__(self, cells: Sequence[Cell], bar: bool = True, quiet: bool = False):
        self._console = console(stderr=True, quiet=quiet)
        self._lines = not (bar and self._console.is_terminal)
        self._bar = Bar(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TextColumn("left"),
            TimeRemainingColumn(),
            console=self._console,
            transient=True,
            disable=self._lines,
        )
        self._total = sum(cell.n_requests for cell in cells)
        self._task = self._bar.add_task("", total=self._total)
        self._cells, self._done, self._finished = len(cells), 0, 0
        self._start = self._began = time.monotonic()

    def begin(self, cell: Cell) -> None:
        """Shows the title of the cell that starts."""
        self._began = time.monotonic()
        self._bar.update(self._task, description=one_line(cell.title))

    def tick(self, answered: int) -> None:
        """Counts answered requests."""
        self._done += answered
        self._bar.update(self._task, advance=answered)

    def end(self, cell: Cell) -> None:
        """Reports that a cell is stored."""
        self._finished += 1
        if not self._lines:
            return
        now = time.monotonic()
        left = (now - self._start) * max(self._total - self._done, 0) / max(self._done, 1)
        done = f"[{self._finished}/{self._cells}] {one_line(cell.title)}"
        self._console.print(f"{done}: {now - self._began:.1f} s, about {_clock(left)} left", soft_wrap=True)

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, tb: TracebackType | None) -> None:
        self._bar.stop()


def _clock(seconds: float) -> str:
    minutes, seconds = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes}:{seconds:02}"
