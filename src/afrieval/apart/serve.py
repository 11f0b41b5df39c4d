"""What a process apart does: it answers lines of JSON, and ends where a question takes too long."""

import contextlib
import faulthandler
import json
import logging
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from afrieval.apart.process import READY

try:
    import resource
except ImportError:  # Windows
    resource = None  # type: ignore[assignment]

MEMORY_MAP = Path("/proc/self/statm")
MIB = 2**20


def serve(answer: Callable[[Any], Any], memory: int | None = None) -> None:
    """Answers questions, `[seconds, question]` each, until there are no more.

    A question that takes longer than its seconds ends the process: no signal handler and no thread of Python's could
    stop `9**9**9**9` in the middle of it.

    Args:
        answer: question to answer; both are what JSON can say.
        memory: MiB that answers may take beyond what the libraries have taken, where the system can limit it.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the process that asks, which ends this one
    logging.disable()
    answers = sys.stdout
    if memory:
        _limit(memory * MIB)
    with contextlib.redirect_stdout(None), Path(os.devnull).open("w") as nowhere:  # libraries print
        print(READY, file=answers, flush=True)
        for line in sys.stdin:
            seconds, question = json.loads(line)
            faulthandler.dump_traceback_later(seconds, exit=True, file=nowhere)
            reply = answer(question)
            faulthandler.cancel_dump_traceback_later()
            print(json.dumps(reply), file=answers, flush=True)


def _limit(more: int) -> None:
    """Lets the process take so many bytes more; a limit that is lower already stays."""
    if resource is None or not MEMORY_MAP.exists():  # macOS has no such limit, and Windows another
        return
    taken = int(MEMORY_MAP.read_text().split()[0]) * resource.getpagesize()
    now, most = resource.getrlimit(resource.RLIMIT_AS)
    limits = [limit for limit in (now, most, taken + more) if limit != resource.RLIM_INFINITY]
    resource.setrlimit(resource.RLIMIT_AS, (min(limits), most))
