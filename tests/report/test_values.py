"""Values as people read them: shares in percent, other scores on their own scale, names in lines."""

import math
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from afrieval._util.grouping import ranges
from afrieval.report.values import ANY, Bounds, broken, number, shown_change, shown_interval, shown_score, shown_time

PERCENT, LOSS = (0.0, 100.0), (0.0, math.inf)


@pytest.mark.parametrize(
    ("value", "bounds", "text"),
    [
        (0.5, (0.0, 1.0), "50.0"),
        (0.6515, (0.0, 1.0), "65.2"),
        (45.26, PERCENT, "45.3"),
        (2.71828, LOSS, "2.7183"),
        (1234.5, LOSS, "1234.50"),
        (-0.25, (-1.0, 1.0), "-0.2500"),
    ],
)
def test_a_score_is_in_percent_if_it_is_a_share_and_else_as_it_is(value: float, bounds: Bounds, text: str) -> None:
    assert shown_score(value, bounds) == text


def test_differences_have_a_sign() -> None:
    assert [shown_change(d) for d in (0.0, -0.0001, 0.1234, -0.5)] == ["+0.0", "+0.0", "+12.3", "-50.0"]
    assert [shown_change(d, PERCENT) for d in (-0.01, 1.26)] == ["+0.0", "+1.3"]
    assert [shown_change(d, LOSS) for d in (-0.25, 0.25)] == ["-0.2500", "+0.2500"]


def test_a_negative_bound_is_no_dash() -> None:
    assert shown_interval((0.0, 0.354)) == "0.0-35.4" and shown_interval((41.2, 48.04), PERCENT) == "41.2-48.0"
    assert shown_interval((-0.2, 0.4), ANY) == "-0.200 to 0.400"


@given(st.floats(-1e300, 1e300))
def test_numbers_are_short(value: float) -> None:
    text = number(abs(value))
    assert len(text) <= 9 and float(text) == pytest.approx(abs(value), rel=1e-2, abs=1e-4)


def test_ranges_and_times() -> None:
    assert [ranges(n) for n in ([1], [1, 2], [1, 2, 3, 5], [2, 4])] == ["1", "1-2", "1-3,5", "2,4"]
    assert [shown_time(hours) for hours in (0.01, 0.5, 3.25, 100.0)] == ["36.0 s", "30.0 min", "3.2 h", "4.2 days"]


def test_names_are_broken_at_blanks_before_hyphens() -> None:
    assert broken("5-shot CoT, lm-eval 0.4.3", 14) == "5-shot CoT,\nlm-eval 0.4.3"
    assert broken("a_task_of_long_names", 12) == "a_task_of_\nlong_names" and broken("abcdef", 3) == "abcdef"
    assert broken("\xa0\xa0high school government", 12) == "\xa0\xa0high\n\xa0\xa0school\n\xa0\xa0government"


@given(st.text("ab_- ", max_size=30), st.integers(1, 12))
def test_breaking_loses_nothing_and_keeps_to_the_width(name: str, width: int) -> None:
    lines = broken(name, width).split("\n")
    assert re.sub(r"\s", "", "".join(lines)) == re.sub(r"\s", "", name)
    assert all(len(line) <= width or re.fullmatch(r"\s*[ab]+[_-]?|[_-]", line) for line in lines)
