"""Jobs, their folders and their locks: each loads one model, and runs a share of the cells of all its runs."""

import contextlib
import hashlib
import json
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any, NamedTuple, Protocol

import yaml
from annotated_types import Ge
from filelock import FileLock, Timeout

from afrieval._util.files import read_text
from afrieval._util.schema import OPEN, Positive
from afrieval._util.whole_files import made, write_whole
from afrieval._util.yaml_files import read_as
from afrieval.results.run_files import LOCK

JOBS, JOB, LOG = "jobs", "job.yaml", "log.txt"
Gpus = Annotated[float, Ge(0)]


@dataclass(frozen=True)
class Job:
    """A job, as job.yaml has it.

    Attributes:
        model: name of the model and its settings, the same for all jobs that share its runs.
        runs: the options of each run, by dotted name.
        share: which share of the cells it runs, from 1.
    """

    __pydantic_config__ = OPEN

    model: str
    runs: list[dict[str, Any]]
    share: Positive = 1
    shares: Positive = 1
    gpus: Gpus = 0

    @property
    def name(self) -> str:
        """The name of its folder."""
        return self.model if self.shares == 1 else f"{self.model}-{self.share}of{self.shares}"

    @property
    def siblings(self) -> list[str]:
        """The names of all jobs that share its runs, its own included."""
        return [f"{self.model}-{share}of{self.shares}" for share in range(1, self.shares + 1)]

    @property
    def digest(self) -> str:
        """A hash of what it runs, which changes if its settings do."""
        return hashlib.sha256(json.dumps(self.runs, sort_keys=True).encode()).hexdigest()[:16]


class EndedJob(NamedTuple):
    """A job that neither runs nor waits any more.

    Attributes:
        reason: why, if its process could not store that itself.
        crashed: whether the run that was at work ended it: then other runs of the job are left.
    """

    job: Job
    reason: str = ""
    crashed: bool = False


class Executor(Protocol):
    """Starts jobs somewhere.

    Attributes:
        waits: whether the command waits until the jobs have ended.
    """

    waits: bool

    def submit(self, jobs: Sequence[Job]) -> None:
        """Starts jobs, or lets them wait for their turn."""

    def poll(self) -> list[EndedJob]:
        """Returns the jobs that have ended since the last call, after a moment."""

    def cancel(self) -> None:
        """Ends jobs that are running as Ctrl-C does, and kills those that do not end in time."""


def slug(text: str) -> str:
    """Returns a text as a part of a file name."""
    return re.sub(r"[^\w.-]+", "-", text).strip("-.") or "model"


def job_folder(folder: Path, name: str) -> Path:
    """Returns the folder of a job."""
    return folder / JOBS / name


def read_job(folder: Path, name: str) -> Job:
    """Returns a job of a folder of jobs; raises UserError if its file is missing or damaged."""
    return read_as(Job, job_folder(folder, name) / JOB, "start the sweep again, which writes this file")


def write_jobs(folder: Path, jobs: Iterable[Job]) -> None:
    """Writes what each job has to do."""
    for job in jobs:
        path = made(job_folder(folder, job.name)) / JOB
        text = yaml.safe_dump(asdict(job), sort_keys=False, allow_unicode=True, width=120)
        if not path.exists() or read_text(path, "delete it, and start the sweep again") != text:
            write_whole(path, text.encode())


def stored_jobs(folder: Path) -> list[str]:
    """Returns the names of all jobs of a folder, sorted."""
    jobs_path = folder / JOBS
    names = sorted(os.listdir(jobs_path)) if jobs_path.is_dir() else []  # noqa: PTH208
    return [name for name in names if os.path.lexists(jobs_path / name / JOB)]


PATIENCE = 5.0  # seconds; somebody who looks whether a job runs holds its lock for a moment


@contextlib.contextmanager
def held(folder: Path, patience: float = PATIENCE) -> Iterator[bool]:
    """Holds the lock of a folder, which must exist; yields False if another process holds it."""
    lock = FileLock(folder / LOCK)
    try:
        lock.acquire(timeout=patience)
    except Timeout:
        yield False
        return
    try:
        yield True
    finally:
        lock.release()


def is_held(folder: Path) -> bool:
    """Returns whether a process holds the lock of a folder."""
    if not (folder / LOCK).exists():
        return False
    with held(folder, patience=0) as free:
        return not free
