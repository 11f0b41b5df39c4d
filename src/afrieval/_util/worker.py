"""A separate process for work that may have to be ended; it is then replaced by another."""

import contextlib
import json
import os
import subprocess
import sys
import time
from functools import cache
from threading import Lock
from typing import Any

READY = "ready"  # what the process prints once it has loaded its libraries


class EndedError(Exception):
    """The process ended before it answered.

    Attributes:
        late: whether it ran out of time.
    """

    def __init__(self, late: bool):
        super().__init__("it ran out of time" if late else "it was ended from outside")
        self.late = late


class Isolated:
    """A process that is asked one question at a time, by any thread.

    Args:
        module: the module that it runs, as `python -m` does; the module calls `serve`.
    """

    def __init__(self, module: str) -> None:
        self._module = module
        self._lock = Lock()
        self._process: subprocess.Popen[str] | None = None

    def ask(self, question: Any, seconds: float) -> Any:
        """Returns the answer to a question; both are JSON values.

        The time to start the process, and to wait for other threads' questions, does not count.

        Raises:
            EndedError: if the answer takes too long, or the process ends for another reason.
        """
        text = json.dumps([seconds, question])
        with self._lock:
            process = self._process = self._running()
            begun = time.monotonic()
            try:
                answer = _answer(process, text)
            except BaseException:  # interrupted: its answer must not be used for the next question
                self._process = None
                process.kill()
                raise
        if not answer:
            raise EndedError(late=time.monotonic() - begun >= seconds)
        return json.loads(answer)

    def _running(self) -> "subprocess.Popen[str]":
        if self._process is not None:
            if self._process.poll() is None:
                return self._process
            for pipe in (self._process.stdin, self._process.stdout):
                with contextlib.suppress(OSError):  # unsent data
                    pipe.close()  # type: ignore[union-attr]
        command = [sys.executable, "-P", "-W", "ignore", "-m", self._module]
        process = subprocess.Popen(  # Ctrl-C does not reach it; it ends with this process
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, start_new_session=True
        )
        if _line(process) != READY:
            raise RuntimeError(f"{' '.join(command)} did not start; see above")
        return process


@cache
def _isolated(module: str, process_id: int) -> Isolated:
    """Returns the separate process of a process; a forked process must not use its parent's."""
    return Isolated(module)


def isolated(module: str) -> Isolated:
    """Returns the separate process of this process that runs a module."""
    return _isolated(module, os.getpid())


def _answer(process: "subprocess.Popen[str]", question: str) -> str:
    """Returns the answer; empty if the process ended, which this function then waits for."""
    assert process.stdin
    try:
        process.stdin.write(question + "\n")
        process.stdin.flush()
        answer = _line(process)
    except OSError:  # the process has ended
        answer = ""
    if not answer:
        process.wait()
    return answer


def _line(process: "subprocess.Popen[str]") -> str:
    assert process.stdout
    line = process.stdout.readline()
    return line.strip() if line.endswith("\n") else ""  # part of a line is not an answer
