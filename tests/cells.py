"""A cell of no source, for tests of what runs, deals and shows cells."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from afrieval.results.cell_key import CellKey
from afrieval.tasks.cells.cell import Cell, CellResult, Preview

NOWHERE = CellKey("own")


def _not_run(model: Any) -> CellResult:
    raise AssertionError("nothing is run")


@dataclass(frozen=True)
class FakeCell(Cell):
    """Has what it is given."""

    name: str = "own"
    title: str = "own"
    key: CellKey = NOWHERE
    asks: frozenset[str] = frozenset()
    n: int = 1
    n_requests: int = 0
    needs: frozenset[Any] = frozenset()
    shares: str = ""
    call: Callable[[Any], CellResult] = _not_run
    fixed: dict[str, Any] = field(default_factory=dict)

    @property
    def identity(self) -> dict[str, Any]:
        return self.fixed

    def requests(self, model: Any) -> Iterator[Any]:
        return iter(())

    def run(self, model: Any) -> CellResult:
        return self.call(model)

    def preview(self, number: int) -> Preview:
        return Preview("nothing")

    def preview_stored(self, samples: Any) -> Preview:
        return Preview("nothing")
