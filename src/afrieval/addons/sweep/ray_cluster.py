"""Runs the jobs of a sweep on a Ray cluster: an actor for each job, which holds its model."""

import os
import platform
import signal
import socket
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from afrieval._util.errors import UserError
from afrieval._util.signals import stoppable
from afrieval._util.terminal import note
from afrieval.addons.sweep.remote import GOES_ON, passed_on, write_to_log
from afrieval.addons.sweep.sweep_file import RayOptions
from afrieval.tools.jobs.jobs import JOB, EndedJob, Job, is_held, job_folder

STOP = ".stop"  # a file in the sweep's folder; while it is there, jobs on Ray stop
EVERY = 1  # seconds between looks for it


class RayJob:
    """An actor. If its node is lost, Ray makes another one elsewhere, which continues."""

    def work(self, folder: str, job: str, working_folder: str) -> str:
        """Runs a job.

        Returns:
            why it was not started; empty if it was.
        """
        from afrieval.tools.jobs.job_worker import main

        sweep = Path(folder)
        if not (job_folder(sweep, job) / JOB).exists():
            return f"{platform.node()} does not see {sweep}: it must be on a file system that all nodes share"
        if Path(working_folder).is_dir():
            os.chdir(working_folder)
        write_to_log(sweep, job)
        threading.Thread(target=_watch, args=[sweep / STOP], daemon=True).start()
        stoppable(lambda: main([folder, job]), GOES_ON)
        return ""


def _watch(stop: Path) -> None:
    """Stops the job once a file appears: Ray can only kill an actor that is at work, and blocks SIGINT in it."""
    while not stop.exists():
        time.sleep(EVERY)
    signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGTERM)


AGAIN = 3  # times that a job starts again, after its node is lost or its process crashes
GRACE = 60.0  # seconds that jobs get to end after Ctrl-C
PATIENCE = 10.0  # seconds for a cluster to answer
CURE = "start it with ray start --head, or remove address: to use this machine alone"
TOKENS = ("RAY_AUTH_TOKEN", "RAY_AUTH_TOKEN_PATH")
QUIET = {"log_to_driver": False, "logging_level": "ERROR"}


def check_installed() -> None:
    """Raises UserError if Ray is not installed."""
    if find_spec("ray") is None:
        raise UserError("sweeps on Ray need ray, which is not installed", "pip install 'afrieval[ray]'")


@contextmanager
def opened(folder: Path, jobs: Sequence[Job], settings: RayOptions) -> Iterator["RayExecutor"]:
    """Yields an executor of jobs on a Ray cluster.

    Raises:
        UserError: if Ray is not installed, does not answer, or has no room for a job.
    """
    check_installed()
    address, cpus = settings.address, settings.cpus
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # Ray would report this cluster to its makers
    if address and (any(name in os.environ for name in TOKENS) or (Path.home() / ".ray/auth_token").exists()):
        os.environ.setdefault("RAY_AUTH_MODE", "token")  # as in ray start, which asks for the token if there is one
    import ray

    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    options = {} if address else {"include_dashboard": False}
    if address:
        _check_address(address)
    try:  # without an address, it starts a cluster on this machine, which ends with the block
        ray.init(address=address or "local", **QUIET, **options)
    except (ConnectionError, RuntimeError, ValueError, ray.exceptions.RayError) as e:
        why = next(iter(str(e).strip().splitlines()), type(e).__name__)
        raise UserError(f"the Ray cluster {address or 'of this machine'} does not answer: {why}", CURE) from None
    try:
        for number, handler in handlers.items():
            signal.signal(number, handler)  # Ray has replaced it
        _check_room(ray.nodes(), jobs, cpus, grows=address is not None)
        yield RayExecutor(ray, folder.resolve(), cpus)
    finally:
        ray.shutdown()


class RayExecutor:
    """Runs each job in an actor of a Ray cluster."""

    waits = True

    def __init__(self, ray: Any, folder: Path, cpus: float):
        self._ray, self._folder, self._kind = ray, folder, ray.remote(RayJob)
        runtime = {"env_vars": passed_on()}
        self._options = {"num_cpus": cpus, "max_restarts": AGAIN, "max_task_retries": AGAIN, "runtime_env": runtime}
        self._actors, self._waiting = dict[str, Any](), dict[Any, Job]()
        (folder / STOP).unlink(missing_ok=True)

    def submit(self, jobs: Sequence[Job]) -> None:
        """Makes an actor for each job, which starts once a node has room for it."""
        for job in jobs:
            actor = self._actors[job.name] = self._kind.options(num_gpus=job.gpus, **self._options).remote()
            self._waiting[actor.work.remote(str(self._folder), job.name, str(Path.cwd()))] = job

    def poll(self) -> list[EndedJob]:
        """Returns the jobs that have ended within a second, whose GPUs are free again."""
        ended = []
        for ref in self._ray.wait(list(self._waiting), timeout=1)[0]:
            job = self._waiting.pop(ref)
            try:
                ended.append(EndedJob(job, self._ray.get(ref)))
            except self._ray.exceptions.RayError as e:
                lines = [line.strip() for line in str(e).splitlines() if line.strip()]
                reason = f"its Ray actor ended: {lines[-1] if lines else type(e).__name__}"
                ended.append(EndedJob(job, reason, crashed=True))
            self._ray.kill(self._actors.pop(job.name))
        return ended

    def cancel(self) -> None:
        """Ends jobs as Ctrl-C does, and kills those that do not end in time."""
        latest = time.monotonic() + GRACE
        if self._actors:
            (self._folder / STOP).touch()
        while self._actors:
            running = {name for name in self._actors if is_held(job_folder(self._folder, name))}
            for name in self._actors.keys() - (running if time.monotonic() < latest else set()):
                self._ray.kill(self._actors.pop(name))
            time.sleep(0.5 if self._actors else 0)
        (self._folder / STOP).unlink(missing_ok=True)


def _check_address(address: str) -> None:
    """Rejects an address that nothing answers at: Ray itself would try for minutes."""
    host, _, port = address.rpartition(":")
    if address == "auto":
        return
    if not port.isdigit() or "/" in host:
        cure = "write auto, or HOST:PORT of the head node, and start the sweep on a node of the cluster"
        raise UserError(f"ray.address is {address!r}, which is not supported", cure)
    try:
        socket.create_connection((host, int(port)), PATIENCE).close()
    except (OSError, OverflowError) as e:
        raise UserError(f"the Ray cluster {address} does not answer: {e}", CURE) from None


def _check_room(nodes: Sequence[dict[str, Any]], jobs: Sequence[Job], cpus: float, grows: bool) -> None:
    """Rejects a job that no node has room for; on a cluster that may grow, it waits."""
    rooms = [node["Resources"] for node in nodes if node["Alive"]]
    for job in jobs:
        needs = {"CPU": cpus, "GPU": job.gpus}
        if any(all(room.get(name, 0) >= count for name, count in needs.items()) for room in rooms):
            continue
        needed = " and ".join(f"{count:g} {name}{'s' * (count != 1)}" for name, count in needs.items() if count)
        if not grows:
            raise UserError(f"{job.name} needs {needed}, more than this machine has", "lower gpus: or ray.cpus")
        note(f"{job.name} waits for {needed}: no node of the cluster has as many yet")
