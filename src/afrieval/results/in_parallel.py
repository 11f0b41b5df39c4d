"""Reads the sample files of large runs in several processes, one per core."""

import contextlib
import os
import sys
import threading
import warnings
from collections.abc import Sequence
from itertools import cycle
from multiprocessing import get_context
from multiprocessing.connection import Connection

from afrieval._util.errors import UserError
from afrieval.results.run_files import sample_path
from afrieval.results.run_folder import RunFolder

LARGE = 64_000_000  # bytes, which one process reads in half a second
Place = tuple[RunFolder, str]  # a cell


def read_ahead(runs: Sequence[RunFolder]) -> None:
    """Reads all cells that are not packed into the given folders if several processes are faster; else, does nothing.

    Processes are forks, which share what has been read. A process with threads is not forked.
    Where one ends early, since a file is damaged or memory is short, the rest is left to the caller's `scores`.
    """
    cores = len(os.sched_getaffinity(0)) if sys.platform == "linux" and threading.active_count() == 1 else 1
    try:
        places = [(run, name) for run in runs for name in run.names if not run.is_packed(name)] if cores > 1 else []
    except UserError:
        return
    if sum(map(_size, places)) > LARGE:
        _read_ahead(places, cores)


def _size(place: Place) -> int:
    run, name = place
    try:
        return sample_path(run.path, name).stat().st_size
    except OSError:  # it was packed or removed just now
        return 0


def _read_ahead(places: Sequence[Place], cores: int) -> None:
    fork, receivers, workers = get_context("fork"), [], []
    try:
        for at in range(cores):
            receiver, sender = fork.Pipe(duplex=False)
            receivers.append(receiver)
            worker = fork.Process(target=_send, args=(places[at::cores], sender, receivers), daemon=True)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", DeprecationWarning)  # of threads of libraries, which are not needed
                worker.start()
            workers.append(worker)
            sender.close()
        for (run, name), receiver in zip(places, cycle(receivers), strict=False):
            run.keep(name, receiver.recv())
    except (EOFError, OSError, UserError):
        return
    finally:
        for worker in workers:
            worker.kill()
            worker.join()
        for receiver in receivers:
            receiver.close()


def _send(
    places: Sequence[Place], sender: "Connection[object, object]", receivers: "list[Connection[object, object]]"
) -> None:
    """Sends what is stored of each cell; errors end it, and occur again where its cell is read."""
    for receiver in receivers:
        receiver.close()  # so that writing fails where the first process was killed
    with contextlib.suppress(Exception):
        for run, name in places:
            sender.send(run.stored(name))
