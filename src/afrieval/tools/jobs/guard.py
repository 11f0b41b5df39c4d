"""Runs a server next to its worker, and ends all of its processes when the worker ends, however that happens.

`python -m afrieval.tools.jobs.guard WORKER COMMAND...` leads a process group of its own, so that it outlives a killed
worker. A server that is only killed may leave processes that hold the memory of GPUs, so it is asked to end first.
"""

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress

import psutil

POLL = 0.1  # seconds
GRACE = 20.0  # seconds for the server to free what it holds


def guard(worker: int, command: list[str]) -> int:
    """Runs a server until it or the worker ends, or this process is asked to; returns the server's exit code."""
    signals: list[int] = []
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda number, _: signals.append(number))
    server = subprocess.Popen(command, stdin=subprocess.DEVNULL)
    try:
        while server.poll() is None and os.getppid() == worker and not signals:
            time.sleep(POLL)
    finally:
        end = time.monotonic() + GRACE
        os.killpg(0, signal.SIGTERM)  # this process has a handler
        while (server.poll() is None or _others()) and time.monotonic() < end:
            time.sleep(POLL)
        if server.poll() is None or _others():
            os.killpg(0, signal.SIGKILL)  # this process, too
    return server.returncode or 0


def _others() -> bool:
    for process in psutil.process_iter():
        with suppress(psutil.Error, OSError):
            in_group = os.getpgid(process.pid) == os.getpgid(0) and process.pid != os.getpid()
            if in_group and process.status() != psutil.STATUS_ZOMBIE:
                return True
    return False


if __name__ == "__main__":
    sys.exit(guard(int(sys.argv[1]), sys.argv[2:]))
