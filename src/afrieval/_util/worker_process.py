"""The work of a separate process: it answers lines of JSON, and ends if a question takes too long."""

import contextlib
import faulthandler
import json
import logging
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

from afrieval._util.worker import READY

try:
    import resource
except ImportError:  # Windows
    resource = None  # type: ignore[assignment]

PAGES = Path("/proc/self/statm")
MIB = 2**20
ENDING = ("SIGALRM", "SIGPIPE")  # out of time; the parent has ended


def serve(answer: Callable[[Any], Any], memory: int | None = None) -> None:
    """Answers questions, `[seconds, question]` each, until there are no more.

    A question that takes too long ends the process: no signal handler or thread of Python can interrupt `9**9**9**9`.

    Args:
        answer: returns the answer to a question; both are JSON values.
        memory: MiB that answers may take in addition to the libraries, if the system can limit it.
    """
    for number in (signal.SIGINT, signal.SIGTERM):  # these are for the parent; when it ends, so does this process
        signal.signal(number, signal.SIG_IGN)
    for name in ENDING:
        if hasattr(signal, name):  # not on Windows
            signal.signal(getattr(signal, name), signal.SIG_DFL)
    logging.disable()
    if memory:
        _limit(memory * MIB)
    answers = sys.stdout
    with contextlib.redirect_stdout(None), Path(os.devnull).open("w", encoding="utf-8") as nowhere:  # libraries print
        _reply(answers, READY)
        for line in sys.stdin:
            seconds, question = json.loads(line)
            _end_in(seconds, nowhere)
            reply = answer(question)
            _end_in(0, nowhere)
            _reply(answers, json.dumps(reply))


def _reply(answers: IO[str], line: str) -> None:
    answers.write(f"{line}\n")
    answers.flush()


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
