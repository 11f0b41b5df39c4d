"""What a process of its own does: it answers lines of JSON, and ends where a question takes too long."""

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

from afrieval.isolated.process import READY

try:
    import resource
except ImportError:  # Windows
    resource = None  # type: ignore[assignment]

PAGES = Path("/proc/self/statm")
MIB = 2**20
ENDING = ("SIGALRM", "SIGPIPE")  # the time is up; nobody is there any more


def serve(answer: Callable[[Any], Any], memory: int | None = None) -> None:
    """Answers questions, `[seconds, question]` each, until there are no more.

    A question that takes longer than its seconds ends the process: nothing that Python itself runs, a signal handler or
    a thread, could stop `9**9**9**9` in the middle of it.

    Args:
        answer: question to answer; both are what JSON can say.
        memory: MiB that answers may take beyond what the libraries have taken, where the system can limit it.
    """
    for number in (signal.SIGINT, signal.SIGTERM):  # for the process that asks, whose end is the end of this one
        signal.signal(number, signal.SIG_IGN)
    for name in ENDING:
        if hasattr(signal, name):  # not on Windows
            signal.signal(getattr(signal, name), signal.SIG_DFL)
    logging.disable()
    if memory:
        _limit(memory * MIB)
    answers = sys.stdout
    with contextlib.redirect_stdout(None), Path(os.devnull).open("w") as nowhere:  # libraries print
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
    """Has the process ended in so many seconds; in none, no more."""
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_REAL, seconds)
    elif seconds:  # Windows; a thread for each question takes longer
        faulthandler.dump_traceback_later(seconds, exit=True, file=nowhere)
    else:
        faulthandler.cancel_dump_traceback_later()


def _limit(more: int) -> None:
    """Lets the process take so many bytes more; a limit that is lower already stays."""
    if resource is None or not PAGES.exists():  # macOS keeps no such limit
        return
    taken = int(PAGES.read_text().split()[0]) * resource.getpagesize()
    now, most = resource.getrlimit(resource.RLIMIT_AS)
    limits = [limit for limit in (now, most, taken + more) if limit != resource.RLIM_INFINITY]
    resource.setrlimit(resource.RLIMIT_AS, (min(limits), most))
