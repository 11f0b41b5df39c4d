"""The jobs of a sweep: each loads one model, and runs a share of the cells of all its runs."""

import hashlib
import json
import os
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import yaml

from afrieval.files.content import read_text
from afrieval.files.folders import made
from afrieval.files.schema import OPEN, Positive
from afrieval.files.whole import write_whole
from afrieval.files.yaml import read_as
from afrieval.sweeps.schema import Gpus

JOBS, JOB, LOG = "jobs", "job.yaml", "log.txt"


@dataclass(frozen=True)
class Job:
    """A job, as job.yaml has it.

    Attributes:
        model: name of the model and its settings, the same for all jobs that share its runs.
        runs: the options of each run, by dotted name.
        share: which share of the cells it runs, from 1.
        shares: number of jobs that share them.
        gpus: number of GPUs that it needs.
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
        """A hash of what it runs, which changes if the sweep file does."""
        return hashlib.sha256(json.dumps(self.runs, sort_keys=True).encode()).hexdigest()[:16]


def job_folder(folder: Path, name: str) -> Path:
    """Returns the folder of a job.

    Args:
        folder: of the sweep.
        name: of the job.
    """
    return folder / JOBS / name


def read_job(folder: Path, name: str) -> Job:
    """Returns a job; arguments are those of `job_folder`.

    Raises:
        UserError: if its file is missing or damaged.
    """
    return read_as(Job, job_folder(folder, name) / JOB, "start the sweep again, which writes this file")


def write_jobs(folder: Path, jobs: Iterable[Job]) -> None:
    """Writes what each job has to do.

    Args:
        folder: of the sweep.
        jobs: all of its file.
    """
    for job in jobs:
        path = made(job_folder(folder, job.name)) / JOB
        text = yaml.safe_dump(asdict(job), sort_keys=False, allow_unicode=True, width=120)
        if not path.exists() or read_text(path, "delete it, and start the sweep again") != text:
            write_whole(path, text.encode())


def stored_jobs(folder: Path) -> list[str]:
    """Returns the names of all jobs of a sweep's folder, sorted."""
    there = folder / JOBS
    names = sorted(os.listdir(there)) if there.is_dir() else []  # noqa: PTH208
    return [name for name in names if os.path.lexists(there / name / JOB)]
