"""A separate process for work that may have to be ended; it is then replaced by another.

The parent asks through `isolated`; the process answers lines of JSON with `serve`.
"""

import contextlib
import faulthandler
import json
import logging
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from threading import Lock
from typing import IO, Any

try:
    import resource
except ImportError:  # Windows
    resource = None  # type: ignore[assignment]

READY = "ready"  # what the process prints once it has loaded its libraries
PAGES = Path("/proc/self/statm")
MIB = 2**20


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
        text, answer = json.dumps([seconds, question]), ""
        with self._lock:
            process = self._process = self._running()
            begun = time.monotonic()
            try:
                with contextlib.suppress(OSError):  # the process has ended
                    process.stdin.write(f"{text}\n")  # type: ignore[union-attr]
                    process.stdin.flush()  # type: ignore[union-attr]
                    answer = _line(process)
                if not answer:
                    process.wait()
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


def _line(process: "subprocess.Popen[str]") -> str:
    """Returns the next line that a process prints; empty if it ended, for part of a line is not an answer."""
    line: str = process.stdout.readline()  # type: ignore[union-attr]
    return line.strip() if line.endswith("\n") else ""


def serve(answer: Callable[[Any], Any], memory: int | None = None) -> None:
    """Answers questions, `[seconds, question]` each, until there are no more.

    A question that takes too long ends the process: no signal handler or thread of Python can interrupt `9**9**9**9`.

    Args:
        answer: returns the answer to a question; both are JSON values.
        memory: MiB that answers may take in addition to the libraries, if the system can limit it.
    """
    for number in (signal.SIGINT, signal.SIGTERM):  # these are for the parent; when it ends, so does this process
        signal.signal(number, signal.SIG_IGN)
    for name in ("SIGALRM", "SIGPIPE"):  # out of time; the parent has ended
        if hasattr(signal, name):  # not on Windows
            signal.signal(getattr(signal, name), signal.SIG_DFL)
    logging.disable()
    if memory:
        _limit(memory * MIB)
    answers = sys.stdout
    with contextlib.redirect_stdout(None), Path(os.devnull).open("w", encoding="utf-8") as nowhere:  # libraries print
        print(READY, file=answers, flush=True)
        for line in sys.stdin:
            seconds, question = json.loads(line)
            _end_in(seconds, nowhere)
            reply = answer(question)
            _end_in(0, nowhere)
            print(json.dumps(reply), file=answers, flush=True)


def _end_in(seconds: float, nowhere: IO[str]) -> None:
    """Ends the process after some seconds; 0 cancels that."""
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_REAL, seconds)
    elif seconds:  # Windows; a thread per question would be slower
        faulthandler.dump_traceback_later(seconds, exit=True, file=nowhere)
    else:
        faulthandler.cancel_dump_traceback_later()


def _limit(more: int) -> None:
    """Limits the memory that the process may take in addition, in bytes; a lower limit stays."""
    if resource is None or not PAGES.exists():  # macOS does not enforce such a limit
        return
    used = int(PAGES.read_bytes().split()[0]) * resource.getpagesize()
    soft_limit, most = resource.getrlimit(resource.RLIMIT_AS)
    limits = [limit for limit in (soft_limit, most, used + more) if limit != resource.RLIM_INFINITY]
    resource.setrlimit(resource.RLIMIT_AS, (min(limits), most))
