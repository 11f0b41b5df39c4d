"""Deals the cells of a run to the jobs that share it."""

from collections.abc import Sequence

from afrieval.grouping import grouped
from afrieval.tasks.cell import Cell


def dealt(cells: Sequence[Cell], shares: int) -> list[list[Cell]]:
    """Returns the cells of each share, in the order of the plan.

    The largest cells come first, each to the share with the fewest requests so far, so that all jobs that plan the
    same run deal in the same way. Cells that ask the same requests stay together: a second answer may differ from the
    first in its last digits, since other requests are in its batch.

    Args:
        cells: all of the run.
        shares: number of shares, some of which may be empty.
    """
    loads, share_of = [0] * shares, dict[str, int]()
    groups = grouped(cells, lambda cell: cell.shares or f"\0{cell.name}").values()
    sizes = [(sum(cell.n_requests for cell in group), group) for group in groups]
    for size, group in sorted(sizes, key=lambda each: (-each[0], min(cell.name for cell in each[1]))):
        share = loads.index(min(loads))
        share_of |= {cell.name: share for cell in group}
        loads[share] += size
    return [[cell for cell in cells if share_of[cell.name] == share] for share in range(shares)]
