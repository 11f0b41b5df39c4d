"""Deals the cells of a run to the jobs that share it."""

from collections.abc import Sequence

from afrieval.tasks.cell import Cell


def dealt(cells: Sequence[Cell], shares: int) -> list[list[Cell]]:
    """Returns the cells of each share, in the order of the plan.

    The largest cells come first, each to the share with the fewest requests so far, so that all jobs that plan the
    same run deal in the same way.

    Args:
        cells: all of the run.
        shares: number of shares, some of which may be empty.
    """
    loads, share_of = [0] * shares, {}
    for cell in sorted(cells, key=lambda cell: (-cell.n_requests, cell.name)):
        share = loads.index(min(loads))
        share_of[cell.name] = share
        loads[share] += cell.n_requests
    return [[cell for cell in cells if share_of[cell.name] == share] for share in range(shares)]
