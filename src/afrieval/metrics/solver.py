"""Keeps the process that does algebra, and starts another where it was ended for taking too long."""

import json
import os
import subprocess
import sys
from functools import cache
from threading import Lock

READY = "ready"  # what the process says once it has loaded its libraries


class Solver:
    """A process that is asked one question at a time, by any thread."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._process: subprocess.Popen[str] | None = None

    def same(self, first: str, second: str, seconds: float) -> bool:
        """Returns whether two answers in plain form are the same; False if that takes longer than the seconds given.

        The time to start the process does not count, nor does the wait for other threads' questions.
        """
        with self._lock:
            process = self._process = self._running()
            try:
                line = _ask(process, json.dumps([first, second, seconds]))
            except BaseException:  # interrupted: its answer must not be taken for that to the next question
                process.kill()
                raise
        return line.strip() == "true"

    def _running(self) -> "subprocess.Popen[str]":
        if self._process is not None:
            if self._process.poll() is None:
                return self._process
            _close(self._process)
        command = [sys.executable, "-P", "-W", "ignore", "-m", "afrieval.metrics.symbolic"]
        process = subprocess.Popen(  # out of reach of Ctrl-C; it ends with this process
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, start_new_session=True
        )
        if _read(process) != READY:
            raise RuntimeError(f"{' '.join(command)} did not start; see above")
        return process


@cache
def solver(process_id: int) -> Solver:
    """Returns the solver of a process, `os.getpid()`: one that was forked must not use its parent's."""
    return Solver()


def own_solver() -> Solver:
    """Returns the solver of this process."""
    return solver(os.getpid())


def _ask(process: "subprocess.Popen[str]", question: str) -> str:
    """Returns the answer; empty if the process ended over it, which it then has."""
    assert process.stdin
    process.stdin.write(question + "\n")
    process.stdin.flush()
    answer = _read(process)
    if not answer:
        process.wait()
    return answer


def _read(process: "subprocess.Popen[str]") -> str:
    assert process.stdout
    return process.stdout.readline().strip()


def _close(process: "subprocess.Popen[str]") -> None:
    for pipe in (process.stdin, process.stdout):
        if pipe:
            pipe.close()
