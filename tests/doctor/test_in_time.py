"""Checks that wait do so at the same time, and not for long."""

import threading
import time

import pytest

from afrieval.doctor.finding import Finding
from afrieval.doctor.in_time import Slow, in_time


def finding(name: str) -> Finding:
    return Finding(name, "ok", "")


def test_findings_are_in_order_and_late_ones_are_said() -> None:
    hangs, begun = threading.Event(), time.monotonic()

    def waits() -> Finding:
        hangs.wait(30)
        return finding("never")

    checks = [
        Slow(waits, Finding("a", "problem", "late")),
        Slow(lambda: finding("b"), finding("late")),
        Slow(waits, finding("c late")),
    ]
    found = in_time(checks, 0.2)
    hangs.set()
    assert [of.check for of in found] == ["a", "b", "c late"] and time.monotonic() - begun < 5


def test_what_a_check_raises_is_raised() -> None:
    def fails() -> Finding:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        in_time([Slow(fails, finding("late"))], 5)
