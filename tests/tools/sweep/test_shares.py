"""Cells are dealt to shares so that all jobs agree, and the shares take about equally long."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st
from tests.cells import FakeCell

from afrieval.tasks.cells.cell import Coordinates
from afrieval.tools.sweep.jobs import dealt


def cells(sizes: list[int]) -> list[FakeCell]:
    places = [Coordinates("t", prompt=number) for number in range(len(sizes))]
    return [FakeCell(f"t{at}", coordinates=place, n_requests=sizes[at]) for at, place in enumerate(places)]


@given(st.lists(st.integers(0, 1000), max_size=40), st.integers(1, 9))
def test_every_cell_is_in_one_share_and_shares_are_even(sizes: list[int], shares: int) -> None:
    whole = cells(sizes)
    found = dealt(whole, shares)
    assert len(found) == shares
    assert sorted(c.name for share in found for c in share) == sorted(c.name for c in whole)
    assert all(share == [c for c in whole if c in share] for share in found)  # in the order of the plan
    loads = [sum(c.n_requests for c in share) for share in found]
    assert max(loads) - min(loads) <= max(sizes, default=0)


@given(st.permutations(cells([5, 5, 7, 1, 0, 7])))
def test_the_order_of_the_plan_does_not_matter(whole: list[FakeCell]) -> None:
    assert [{c.name for c in share} for share in dealt(whole, 3)] == [
        {c.name for c in share} for share in dealt(cells([5, 5, 7, 1, 0, 7]), 3)
    ]


@given(st.lists(st.integers(1, 9), min_size=2, max_size=9), st.integers(1, 4))
def test_cells_that_ask_the_same_stay_together(sizes: list[int], shares: int) -> None:
    together = [replace(cell, shares="t_1") if at % 2 else cell for at, cell in enumerate(cells(sizes))]
    found = [{cell.name for cell in share} for share in dealt(together, shares)]
    assert [share for share in found if {c.name for c in together if c.shares} <= share]
    assert sum(map(len, found)) == len(sizes)
