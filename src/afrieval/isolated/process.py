"""A process of its own, for work that may have to be ended; another is started where it was."""

import contextlib
import json
import os
import subprocess
import sys
import time
from functools import cache
from threading import Lock
from typing import Any

READY = "ready"  # what the process says once it has loaded its libraries


class EndedError(Exception):
    """The process ended before it answered.

    Attributes:
        late: whether its time was up.
    """

    def __init__(self, late: bool):
        super().__init__("its time was up" if late else "it was ended from outside")
        self.late = late


class Isolated:
    """A process that is asked one question at a time, by any thread.

    Args:
        module: what it runs, as `python -m` does: a module that calls `serve`.
    """

    def __init__(self, module: str) -> None:
        self._module = module
        self._lock = Lock()
        self._process: subprocess.Popen[str] | None = None

    def ask(self, question: Any, seconds: float) -> Any:
        """Returns the answer to a question; both are what JSON can say.

        The time to start the process does not count, nor does the wait for other threads' questions.

        Raises:
            EndedError: if that takes longer than the seconds given, or the process ends for another reason.
        """
        text = json.dumps([seconds, question])
        with self._lock:
            process = self._process = self._running()
            begun = time.monotonic()
            try:
                answer = _answer(process, text)
            except BaseException:  # interrupted: its answer must not be taken for that to the next question
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
            _close(self._process)
        command = [sys.executable, "-P", "-W", "ignore", "-m", self._module]
        process = subprocess.Popen(  # out of reach of Ctrl-C; it ends with this process
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, start_new_session=True
        )
        if _line(process) != READY:
            raise RuntimeError(f"{' '.join(command)} did not start; see above")
        return process


@cache
def _isolated(module: str, process_id: int) -> Isolated:
    """Returns the one of a process: one that was forked must not use its parent's."""
    return Isolated(module)


def isolated(module: str) -> Isolated:
    """Returns this process' process of its own that runs a module."""
    return _isolated(module, os.getpid())


def _answer(process: "subprocess.Popen[str]", question: str) -> str:
    """Returns the answer; empty if the process ended over it, which it then has."""
    assert process.stdin
    try:
        process.stdin.write(question + "\n")
        process.stdin.flush()
        answer = _line(process)
    except OSError:  # nobody reads the question any more
        answer = ""
    if not answer:
        process.wait()
    return answer


def _line(process: "subprocess.Popen[str]") -> str:
    assert process.stdout
    line = process.stdout.readline()
    return line.strip() if line.endswith("\n") else ""  # a part of one is no answer


def _close(process: "subprocess.Popen[str]") -> None:
    for pipe in (process.stdin, process.stdout):
        if pipe:
            with contextlib.suppress(OSError):  # what was never sent
                pipe.close()
