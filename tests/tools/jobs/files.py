"""Sweep files and workers in this process, for tests."""

import json
from pathlib import Path
from types import ModuleType
from typing import Any, cast

import yaml

from afrieval.addons.sweep.combinations import jobs_of
from afrieval.addons.sweep.sweep_file import ExecutorName, SweepFile, folder_of, read_sweep
from afrieval.results.run_files import read_run
from afrieval.tools.jobs.job_worker import work
from afrieval.tools.jobs.jobs import Executor, Job, write_jobs
from afrieval.tools.jobs.start import run_jobs
from afrieval.tools.jobs.state import State, read_state

COMMON = {"data.source": "samples", "eval.limit": 2, "task.prompts": [1]}
SUITE = {"task_name": "afrixnli", "languages": ["yor", "hau"], "prompt_language": "both"}


def write_sweep(path: Path, **keys: Any) -> Path:
    """Writes a sweep file of the demo model on a small task, with other keys as given; null leaves one out."""
    known = {
        "models": [{"model_name": "demo"}],
        "suites": [SUITE],
        "common": COMMON,
        "folder": str(path.parent / "out"),
    }
    content = {key: value for key, value in {**known, **keys}.items() if value is not None}
    path.write_text(yaml.safe_dump(content, sort_keys=False), encoding="utf-8")
    return path


def planned(path: Path) -> tuple[Path, list[Job], SweepFile]:
    """Returns folder and jobs of a sweep file, written as the command writes them."""
    sweep, found = read_sweep(path)
    jobs, folder = jobs_of(sweep, found), folder_of(sweep)
    write_jobs(folder, jobs)
    return folder, jobs, sweep


def states(folder: Path, jobs: list[Job]) -> dict[str, State]:
    """Returns the states of jobs by name."""
    return {job.name: read_state(folder, job) for job in jobs}


def start(executor: ModuleType, folder: Path, jobs: list[Job], sweep: SweepFile) -> None:
    """Runs jobs as `afrieval sweep` does, with the executor of a module."""
    name = executor.__name__.rpartition(".")[2].removesuffix("_cluster")
    with executor.opened(folder, jobs, sweep.settings_of(cast(ExecutorName, name))) as opened:
        run_jobs(folder, jobs, opened)


def all_here(folder: Path, jobs: list[Job], executor: Executor) -> None:
    """Runs all jobs in this process."""
    for job in jobs:
        work(folder, job.name)


def content(folder: Path, beginnings: tuple[str, ...] = ("",)) -> dict[str, object]:
    """Returns what files of a run hold whose names begin so: answers in any order, and run.yaml without visits."""
    paths = [path for path in folder.iterdir() if path.name.startswith(beginnings) and path.name != ".lock"]
    found: dict[str, object] = {path.name: path.read_bytes() for path in paths}
    found |= {path.name: sorted(path.read_bytes().splitlines()) for path in folder.glob("answers_*")}
    return found | {"run.yaml": json.dumps({k: v for k, v in read_run(folder).items() if k != "visits"})}
