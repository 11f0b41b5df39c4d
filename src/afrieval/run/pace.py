"""Estimates how long the remaining cells take, from those that are done."""

from collections import Counter, defaultdict
from collections.abc import Iterable

from afrieval.tasks.cell import Cell


class Pace:
    """Counts requests by kind: a generated answer takes many times as long as a likelihood.

    Args:
        cells: the cells to run.
    """

    def __init__(self, cells: Iterable[Cell] = ()):
        self._left, self._done, self._seconds = Counter[str](), Counter[str](), defaultdict[str, float](float)
        for cell in cells:
            self.add(cell)

    def add(self, cell: Cell) -> None:
        """Adds a cell to run."""
        self._left[_kind(cell)] += cell.n_requests

    def end(self, cell: Cell, seconds: float) -> None:
        """Counts a cell that is done."""
        self._left[_kind(cell)] -= cell.n_requests
        self._done[_kind(cell)] += cell.n_requests
        self._seconds[_kind(cell)] += seconds

    @property
    def seconds(self) -> float:
        """The time that is left, as far as requests of the same kind have been timed."""
        return sum(pace * self._left[kind] for kind, pace in self.timed.items())

    @property
    def whole(self) -> bool:
        """Whether all kinds of requests that are left have been timed."""
        return all(kind in self.timed for kind, left in self._left.items() if left)

    @property
    def timed(self) -> dict[str, float]:
        """Kind of request to seconds for one."""
        return {kind: self._seconds[kind] / done for kind, done in self._done.items() if done}


def _kind(cell: Cell) -> str:
    return " ".join(sorted(cell.asks))
