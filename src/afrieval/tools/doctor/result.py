"""What a check of the machine found; checks that have to wait run side by side, and late ones are given up."""

from collections.abc import Callable, Sequence
from threading import Thread
from time import monotonic
from typing import Literal, NamedTuple

from afrieval._util.errors import UserError

Status = Literal["ok", "note", "problem"]


class CheckResult(NamedTuple):
    """A line of `afrieval doctor`.

    Attributes:
        check: what was looked at.
        status: ok; note, if nothing keeps the given config from running; or problem.
        found: what there is.
        cure: what the user can do; empty if there is nothing to do.
    """

    check: str
    status: Status
    found: str
    cure: str = ""


def of_error(check: str, error: UserError) -> CheckResult:
    """Returns an error that a run would end with, as a problem."""
    return CheckResult(check, "problem", error.message, error.hint)


class Slow(NamedTuple):
    """A check that may have to wait.

    Attributes:
        run: returns its finding.
        late: its finding if it does not end in time.
    """

    run: Callable[[], CheckResult]
    late: CheckResult


def in_time(checks: Sequence[Slow], seconds: float) -> list[CheckResult]:
    """Returns the findings of all checks, in order; their threads do not keep the process from ending.

    Args:
        checks: to run at the same time.
        seconds: after which those that have not ended are late.
    """
    found: dict[int, CheckResult] = {}
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
