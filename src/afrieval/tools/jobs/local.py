"""Runs jobs on this machine, some at a time, each in a process of its own."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from afrieval._util.errors import UserError
from afrieval.tools.jobs.jobs import LOG, EndedJob, Job, job_folder
from afrieval.tools.jobs.state import read_state

WORKER = "afrieval.tools.jobs.job_worker"
LOOKS = 0.2  # seconds between looks at the workers
GRACE = 60.0  # seconds that workers get to end after Ctrl-C
EXIT_OF_SIGNALS = 128  # and more: the worker has answered a signal
CRASHES = {getattr(signal, name, None) for name in ("SIGSEGV", "SIGABRT", "SIGBUS", "SIGFPE", "SIGILL", "SIGSYS")}


class LocalExecutor:
    """Runs some jobs at a time on this machine."""

    waits = True

    def __init__(self, folder: Path, parallel: int, gpus: Sequence[str] = ()):
        self._folder, self._parallel = folder, parallel
        self._free = dict.fromkeys(gpus, 1.0)
        self._waiting, self._running = list[Job](), list[tuple[Job, subprocess.Popen[bytes]]]()
        self._gpus_of: dict[str, dict[str, float]] = {}  # by job: the share of each GPU that it has

    def submit(self, jobs: Sequence[Job]) -> None:
        """Lets jobs wait for their turn; raises UserError if a job needs more GPUs than there are."""
        for job in jobs:
            if job.gpus > len(self._free):
                cure = "give fewer gpus, or set CUDA_VISIBLE_DEVICES to more"
                raise UserError(f"the job {job.name} needs {job.gpus:g} GPUs, but {len(self._free)} are visible", cure)
        self._waiting += jobs

    def poll(self) -> list[EndedJob]:
        """Starts jobs whose turn has come, and returns those that have ended."""
        while self._waiting and len(self._running) < self._parallel:
            if (gpus := _dealt(self._waiting[0].gpus, self._free)) is None:
                break
            self._start(self._waiting.pop(0), gpus)
        time.sleep(LOOKS)
        ended = []
        for job, process in [child for child in self._running if child[1].poll() is not None]:
            self._running.remove((job, process))
            for gpu, share in self._gpus_of.pop(job.name).items():
                self._free[gpu] += share
            code, state = process.returncode, read_state(self._folder, job)
            if state["status"] in ("done", "failed", "running"):
                ended.append(EndedJob(job))
                continue
            how = f"was ended by {signal.Signals(-code).name}" if code < 0 else f"ended with exit code {code}"
            reason = state["reason"] or f"its process {how}; see {job_folder(self._folder, job.name) / LOG}"
            crashed = 0 < code < EXIT_OF_SIGNALS or -code in CRASHES
            ended.append(EndedJob(job, reason, crashed))
        return ended

    def cancel(self) -> None:
        """Ends workers as Ctrl-C does, and kills those that do not end in time."""
        processes = [process for _, process in self._running]
        for process in processes:
            _signal(process, signal.SIGINT)
        latest = time.monotonic() + GRACE
        for process in processes:
            with suppress(subprocess.TimeoutExpired):
                process.wait(max(latest - time.monotonic(), 0.1))
        for process in processes:
            if process.poll() is None:
                _signal(process, getattr(signal, "SIGKILL", signal.SIGTERM))
                process.wait()

    def _start(self, job: Job, gpus: dict[str, float]) -> None:
        for gpu, share in gpus.items():
            self._free[gpu] -= share
        # With more threads than cores, all jobs are slower.
        cores = max((os.cpu_count() or 1) // self._parallel, 1)
        threads = {"OMP_NUM_THREADS": str(cores)} if self._parallel > 1 else {}
        with (job_folder(self._folder, job.name) / LOG).open("ab") as log:
            process = subprocess.Popen(
                [sys.executable, "-m", WORKER, str(self._folder), job.name],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env={**threads, **os.environ, **({"CUDA_VISIBLE_DEVICES": ",".join(gpus)} if gpus else {})},
                start_new_session=True,  # Ctrl-C in the terminal reaches this process alone, which passes it on
            )
        self._running.append((job, process))
        self._gpus_of[job.name] = gpus


def check_installed() -> None:
    """Does nothing: this machine is always there."""


@contextmanager
def opened(folder: Path, jobs: Sequence[Job], parallel: int) -> Iterator[LocalExecutor]:
    """Yields an executor that runs so many jobs at a time."""
    gpus = [gpu.strip() for gpu in os.environ.get("CUDA_VISIBLE_DEVICES", "").split(",") if gpu.strip()]
    if any(job.gpus for job in jobs) and "CUDA_VISIBLE_DEVICES" not in os.environ:
        import torch

        gpus = [str(number) for number in range(torch.cuda.device_count())]
    yield LocalExecutor(folder, parallel, gpus)


def _dealt(gpus: float, free: dict[str, float]) -> dict[str, float] | None:
    share = min(gpus, 1.0)
    if not share:
        return {}
    fitting = sorted((gpu for gpu in free if free[gpu] >= share - 1e-9), key=lambda gpu: free[gpu])
    number = max(int(gpus), 1)
    return dict.fromkeys(fitting[:number], share) if len(fitting) >= number else None


def _signal(process: "subprocess.Popen[bytes]", number: int) -> None:
    with suppress(ProcessLookupError):
        if hasattr(os, "killpg"):
            os.killpg(process.pid, number)
        else:  # Windows has neither groups nor a signal that a process could answer
            process.kill()
