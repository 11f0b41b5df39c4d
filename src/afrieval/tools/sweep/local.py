"""Runs jobs on this machine, some at a time, each in a process of its own."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from afrieval._util.errors import UserError
from afrieval.tools.sweep.jobs import LOG, Job, job_folder
from afrieval.tools.sweep.state import crashed, now, read_state, write_state
from afrieval.tools.sweep.sweep_file import SweepFile
from afrieval.tools.sweep.tables import Screen

WORKER = "afrieval.tools.sweep.worker"
LOOKS = 0.2  # seconds between looks at the workers
GRACE = 60.0  # seconds that workers get to end after Ctrl-C
EXIT_OF_SIGNALS = 128  # and more: the worker has answered a signal
CRASHES = {getattr(signal, name) for name in ("SIGSEGV", "SIGABRT", "SIGBUS", "SIGFPE", "SIGILL", "SIGSYS")}


@dataclass(frozen=True)
class _Child:
    """A worker.

    Attributes:
        gpus: share of each GPU that it has.
    """

    job: Job
    process: subprocess.Popen[bytes]
    gpus: dict[str, float]


def start(folder: Path, jobs: Sequence[Job], sweep: SweepFile) -> None:
    """Runs jobs until all have ended; Ctrl-C ends the workers, too.

    Args:
        folder: of the sweep.
        jobs: those to run.
        sweep: says how many run at a time.

    Raises:
        UserError: if a job needs more GPUs than there are.
    """
    free = dict.fromkeys(_visible_gpus() if any(job.gpus for job in jobs) else [], 1.0)
    for job in jobs:
        if job.gpus > len(free):
            cure = "give fewer gpus, or set CUDA_VISIBLE_DEVICES to more"
            raise UserError(f"the job {job.name} needs {job.gpus:g} GPUs, but {len(free)} are visible", cure)
    waiting, running = list(jobs), list[_Child]()
    with Screen(folder, jobs) as screen:
        try:
            while waiting or running:
                while len(running) < sweep.parallel and (child := _next(folder, waiting, free, sweep.parallel)):
                    running.append(child)
                for child in [child for child in running if child.process.poll() is not None]:
                    running.remove(child)
                    waiting += [child.job] if _ended(folder, child, free) else []
                    screen.ended(child.job)
                screen.show()
                time.sleep(LOOKS if running else 0)
        except BaseException:
            _stop(running)
            raise


def _next(folder: Path, waiting: list[Job], free: dict[str, float], parallel: int) -> _Child | None:
    """Starts the first job that waits; None if it has to wait for GPUs, or none waits."""
    gpus = _dealt(waiting[0].gpus, free) if waiting else None
    return None if gpus is None else _started(folder, waiting.pop(0), gpus, free, parallel)


def _started(folder: Path, job: Job, gpus: dict[str, float], free: dict[str, float], parallel: int) -> _Child:
    for gpu, share in gpus.items():
        free[gpu] -= share
    words = [sys.executable, "-m", WORKER, str(folder), job.name]
    with (job_folder(folder, job.name) / LOG).open("ab") as log:
        process = subprocess.Popen(
            words,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            env={**_threads(parallel), **os.environ, **({"CUDA_VISIBLE_DEVICES": ",".join(gpus)} if gpus else {})},
            start_new_session=True,  # Ctrl-C in the terminal reaches this process alone, which passes it on
        )
    return _Child(job, process, gpus)


def _threads(parallel: int) -> dict[str, str]:
    """Returns the environment that divides the cores among jobs; with more threads than cores, all are slower."""
    return {"OMP_NUM_THREADS": str(max((os.cpu_count() or 1) // parallel, 1))} if parallel > 1 else {}


def _ended(folder: Path, child: _Child, free: dict[str, float]) -> bool:
    """Takes GPUs back, and stores why a worker ended that could not do so itself; returns whether to start it again.

    The run that crashed a worker has failed; the job's other runs have not.
    """
    for gpu, share in child.gpus.items():
        free[gpu] += share
    code, state = child.process.returncode, read_state(folder, child.job)
    if state["status"] in ("done", "failed", "running"):
        return False
    how = f"was ended by {signal.Signals(-code).name}" if code < 0 else f"ended with exit code {code}"
    log = job_folder(folder, child.job.name) / LOG
    reason = state["reason"] or f"its process {how}; see {log}"
    if not (0 < code < EXIT_OF_SIGNALS or -code in CRASHES):
        write_state(folder, child.job, {**state, "reason": reason, "since": now()})
        return False
    return crashed(folder, child.job, reason)


def _dealt(gpus: float, free: dict[str, float]) -> dict[str, float] | None:
    """Returns the share of each GPU that a job gets; None if it has to wait."""
    share = min(gpus, 1.0)
    if not share:
        return {}
    fitting = sorted((gpu for gpu in free if free[gpu] >= share - 1e-9), key=lambda gpu: free[gpu])
    number = max(int(gpus), 1)
    return dict.fromkeys(fitting[:number], share) if len(fitting) >= number else None


def _visible_gpus() -> list[str]:
    if (named := os.environ.get("CUDA_VISIBLE_DEVICES")) is not None:
        return [gpu.strip() for gpu in named.split(",") if gpu.strip()]
    import torch

    return [str(number) for number in range(torch.cuda.device_count())]


def _stop(running: Sequence[_Child]) -> None:
    """Ends workers as Ctrl-C does, and kills those that do not end in time."""
    for child in running:
        _signal(child, signal.SIGINT)
    latest = time.monotonic() + GRACE
    for child in running:
        with suppress(subprocess.TimeoutExpired):
            child.process.wait(max(latest - time.monotonic(), 0.1))
    for child in running:
        if child.process.poll() is None:
            _signal(child, signal.SIGKILL)
            child.process.wait()


def _signal(child: _Child, number: int) -> None:
    with suppress(ProcessLookupError):
        os.killpg(child.process.pid, number)
