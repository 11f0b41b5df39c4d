"""A cell of no source, for tests of what runs, deals and shows cells."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from afrieval.results.cell_key import CellKey
from afrieval.tasks.cells.cell import Cell, HarnessCall, Preview

NOWHERE = CellKey("own")


def _not_built(model: Any) -> HarnessCall:
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
    call: Callable[[Any], HarnessCall] = _not_built
    fixed: dict[str, Any] = field(default_factory=dict)

    @property
    def identity(self) -> dict[str, Any]:
        return self.fixed

    def build(self, model: Any) -> HarnessCall:
        return self.call(model)

    def preview(self, number: int) -> Preview:
        return Preview("nothing")

    def preview_stored(self, samples: Any) -> Preview:
        return Preview("nothing")
