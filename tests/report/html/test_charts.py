"""Charts in rows: scales with round numbers, marks at their places, names for screen readers."""

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from afrieval.report.html.charts import EDGE, PROMPTS, WIDTH, Look, axis, ends, scale, strip
from afrieval.report.values import SHARE, Point
from afrieval.scoring.statistics.intervals import Interval


def test_a_scale_has_all_values_and_round_numbers_between_them() -> None:
    found = scale([0.31, 0.58])
    assert (found.low, found.high, found.ticks) == (0.31, 0.58, [0.4, 0.5])
    assert (found.x(0.31), found.x(0.58)) == (EDGE, WIDTH - EDGE)


@given(st.lists(st.floats(-1e6, 1e6), min_size=1))
@example([5e-324])
@example([0.0, 1e-12])
def test_any_values_have_a_scale(values: list[float]) -> None:
    found = scale(values)
    assert found.low < found.high and 1 <= len(found.ticks) <= 6
    assert all(EDGE <= found.x(value) <= WIDTH - EDGE for value in [*values, *found.ticks])


def test_what_is_not_a_number_has_no_place() -> None:
    assert scale([float("nan"), 0.5, float("inf")]).ticks


def test_a_chart_has_its_points_and_says_what_it_shows() -> None:
    points = [Point(0.4, Interval(0.3, 0.5)), Point(0.6)]
    svg = strip(
        list(zip(PROMPTS, points, strict=True)),
        scale(ends(points)),
        'Hausa: <"40">',
        joined=True,
        lines={"mean": 0.5, "unread": 0.55},
    )
    assert svg.count("<circle") == 1 and svg.count('class="second"') == 1 and svg.count('class="range first"') == 1
    assert 'role="img"' in svg and 'aria-label="Hausa: &lt;&#34;40&#34;&gt;"' in svg
    assert 'class="joint"' in svg and 'class="mean"' in svg and 'class="unread"' in svg and "style=" not in svg
    assert f'cx="{scale(ends(points)).x(0.4):.1f}"' in svg


def test_numbers_and_keys_are_in_the_head() -> None:
    head = axis(scale([0.0, 1.0]), SHARE, [Look("dot", "first", "<English>")])
    assert re.findall(r">([\d.]+)</text>", head) == ["0", "20", "40", "60", "80", "100"]
    assert "&lt;English&gt;" in head


@pytest.mark.parametrize(("bounds", "shown"), [((0.0, 100.0), "50"), ((0.0, float("inf")), "0.5")])
def test_numbers_are_those_of_the_metric(bounds: tuple[float, float], shown: str) -> None:
    high = 100.0 if bounds[1] == 100 else 1.0
    assert f">{shown}</text>" in axis(scale([0.0, high / 2]), bounds)


def test_a_scale_of_scores_of_zero_has_no_negative_ticks() -> None:
    assert scale([0.0, 0.0]).ticks[0] == 0.0 and scale([0.0, 0.0]).low == 0.0


@pytest.mark.parametrize("bounds", [SHARE, (0.0, 100.0)])
@pytest.mark.parametrize("values", [[0.0, 0.0], [0.5, 0.5004], [12.0, 12.01]])
def test_neighbours_have_different_numbers(bounds: tuple[float, float], values: list[float]) -> None:
    numbers = re.findall(r">([^<]+)</text>", axis(scale(values), bounds))
    assert len({*numbers}) == len(numbers) > 1
