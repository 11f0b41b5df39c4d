"""Checks that wait do so at the same time, and not for long."""

import threading
import time

import pytest

from afrieval.tools.doctor.result import CheckResult, Slow, in_time


def finding(name: str) -> CheckResult:
    return CheckResult(name, "ok", "")


def test_findings_are_in_order_and_late_ones_are_said() -> None:
    hangs, begun = threading.Event(), time.monotonic()

    def waits() -> CheckResult:
        hangs.wait(30)
        return finding("never")

    checks = [
        Slow(waits, CheckResult("a", "problem", "late")),
        Slow(lambda: finding("b"), finding("late")),
        Slow(waits, finding("c late")),
    ]
    found = in_time(checks, 0.2)
    hangs.set()
    assert [of.check for of in found] == ["a", "b", "c late"] and time.monotonic() - begun < 5


def test_what_a_check_raises_is_raised() -> None:
    def fails() -> CheckResult:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        in_time([Slow(fails, finding("late"))], 5)
