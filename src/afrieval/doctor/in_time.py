"""Runs checks that may have to wait at the same time, and gives up those that wait too long."""

from collections.abc import Callable, Sequence
from threading import Thread
from time import monotonic
from typing import NamedTuple

from afrieval.doctor.finding import Finding


class Slow(NamedTuple):
    """A check that may have to wait.

    Attributes:
        run: returns its finding.
        late: its finding if it does not end in time.
    """

    run: Callable[[], Finding]
    late: Finding


def in_time(checks: Sequence[Slow], seconds: float) -> list[Finding]:
    """Returns the findings of all checks, in order; their threads do not keep the process from ending.

    Args:
        checks: to run at the same time.
        seconds: after which those that have not ended are late.
    """
    found: dict[int, Finding] = {}
    failed: list[BaseException] = []

    def run(number: int, check: Slow) -> None:
        try:
            found[number] = check.run()
        except BaseException as e:  # raised again below
            failed.append(e)

    threads = [Thread(target=run, args=each, daemon=True) for each in enumerate(checks)]
    for thread in threads:
        thread.start()
    end = monotonic() + seconds
    for thread in threads:
        thread.join(max(0.0, end - monotonic()))
    if failed:
        raise failed[0]
    return [found.get(number, check.late) for number, check in enumerate(checks)]
