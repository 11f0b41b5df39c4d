"""Shows the running cell, the progress and the remaining time."""

import time
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence
from types import TracebackType
from typing import Any, NamedTuple, Self

from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    Task,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from afrieval._util import signals
from afrieval._util.terminal import console, one_line
from afrieval.tasks.cells.cell import Cell

EVERY = 1  # seconds between checks of the run folder, which are slow on a network


class Requests(NamedTuple):
    """Requests that belong to no cell, as the display of progress needs them."""

    title: str
    n_requests: int
    asks: Collection[str]


class RemainingTime:
    """Counts requests by kind: a generated answer takes many times as long as a likelihood."""

    def __init__(self, cells: Iterable[Cell | Requests] = ()):
        self._left, self._done, self._seconds = Counter[str](), Counter[str](), defaultdict[str, float](float)
        for cell in cells:
            self.add(cell)

    def add(self, cell: Cell | Requests) -> None:
        """Adds a cell to run."""
        self._left[_kind(cell)] += cell.n_requests

    def end(self, cell: Cell | Requests, seconds: float) -> None:
        """Counts a cell that is done."""
        self._left[_kind(cell)] -= cell.n_requests
        self._done[_kind(cell)] += cell.n_requests
        self._seconds[_kind(cell)] += seconds

    @property
    def seconds(self) -> float:
        """The time that is left, as far as requests of their kinds have been timed."""
        return sum(pace * self._left[kind] for kind, pace in self.timed.items())

    @property
    def whole(self) -> bool:
        """Whether all kinds of requests that are left have been timed."""
        return all(kind in self.timed for kind, left in self._left.items() if left)

    @property
    def timed(self) -> dict[str, float]:
        """Kind of request to seconds for one."""
        return {kind: self._seconds[kind] / done for kind, done in self._done.items() if done}


def _kind(cell: Cell | Requests) -> str:
    return " ".join(sorted(cell.asks))


class _Spending(TextColumn):
    """Shows what answers have cost so far, or the tokens written: long answers move no bar for minutes."""

    def __init__(self, spending: Callable[[], str]):
        super().__init__("{task.fields[spent]}", markup=False)
        self._spending = spending

    def render(self, task: Task) -> Any:
        task.fields["spent"] = self._spending()
        return super().render(task)


class RunProgress:
    """A bar over all requests in a terminal; one line per finished cell elsewhere, as in a batch job's log.

    Args:
        cells: the cells to run.
        bar: False for lines even in a terminal, if prompts are printed in between.
        quiet: True to print nothing, if another process does.
        spending: returns what answers have cost or taken so far, or an empty text.
        check: checks that the run folder is still there.
    """

    def __init__(
        self,
        cells: Sequence[Cell | Requests],
        bar: bool = True,
        quiet: bool = False,
        spending: Callable[[], str] = lambda: "",
        check: Callable[[], None] = lambda: None,
    ):
        self._console = console(stderr=True, quiet=quiet)
        self._lines = not (bar and self._console.is_terminal)
        self._bar = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TextColumn("left"),
            TimeRemainingColumn(),
            _Spending(spending),
            console=self._console,
            transient=True,
            disable=self._lines,
        )
        self._task = self._bar.add_task("", total=sum(cell.n_requests for cell in cells))
        self._spending, self._check, self._checked = spending, check, time.monotonic()
        self._cells, self._finished, self._began = len(cells), 0, time.monotonic()
        self._pace = RemainingTime(cells)

    def begin(self, cell: Cell | Requests) -> None:
        """Shows the title of the cell that starts."""
        self._began = time.monotonic()
        self._bar.update(self._task, description=one_line(cell.title))

    def tick(self, answered: int) -> None:
        """Counts answered requests, of which lines say nothing, and checks the folder regularly."""
        if not self._lines:
            self._bar.update(self._task, advance=answered)
        signals.check()
        if time.monotonic() > self._checked + EVERY:
            self._check()
            self._checked = time.monotonic()

    def end(self, cell: Cell | Requests) -> None:
        """Reports that a cell is stored."""
        self._finished += 1
        seconds = time.monotonic() - self._began
        self._pace.end(cell, seconds)
        if self._lines:
            done = f"[{self._finished}/{self._cells}] {one_line(cell.title)}"
            left = f"{'about' if self._pace.whole else 'more than'} {clock(self._pace.seconds)} left"
            spent = f", {so_far} so far" if (so_far := self._spending()) else ""
            self._console.print(f"{done}: {seconds:.1f} s, {left}{spent}", soft_wrap=True)

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, tb: TracebackType | None) -> None:
        self._bar.stop()


def clock(seconds: float) -> str:
    """Returns a time in hours, minutes and seconds."""
    minutes, seconds = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes}:{seconds:02}"
