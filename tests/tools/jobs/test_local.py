"""Workers on this machine: how many at a time, on which GPUs, and what becomes of those that end badly."""

import os
import signal
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import ROOT
from tests.tools.jobs.files import start, states

from afrieval._util.errors import UserError
from afrieval.addons.sweep.sweep_file import SweepFile
from afrieval.tools.jobs import local
from afrieval.tools.jobs.jobs import Job, job_folder, write_jobs


@pytest.fixture(autouse=True)
def _a_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local, "WORKER", "tests.tools.jobs.a_worker")
    monkeypatch.setattr(local, "LOOKS", 0.02)
    monkeypatch.setenv("PYTHONPATH", f"{ROOT / 'src'}:{ROOT}")
    monkeypatch.chdir(ROOT)


def started(folder: Path, parallel: int = 4, gpus: float = 0, **of_jobs: list[str]) -> list[Job]:
    """Runs jobs by name, each with what its runs do; returns them."""
    jobs = [Job(name, [{"do": what} for what in runs], gpus=gpus) for name, runs in of_jobs.items()]
    write_jobs(folder, jobs)
    start(local, folder, jobs, SweepFile(models=["m"], suites=["s"], parallel=parallel))
    return jobs


def test_one_that_ends_badly_leaves_the_others_alone(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    of_jobs: dict[str, Any] = {
        "good": ["work", "work"],
        "crashing": ["work", "crash", "work"],
        "killed": ["work", "die"],
        "broken": ["fail to start", "work"],
    }
    found = states(tmp_path, started(tmp_path, **of_jobs))
    assert {name: state["status"] for name, state in found.items()} == {
        "good": "done", "crashing": "failed", "killed": "stopped", "broken": "failed",
    }  # fmt: skip
    assert [run["status"] for run in found["crashing"]["runs"]] == ["done", "failed", "done"]
    assert "ended by SIGSEGV; see" in found["crashing"]["runs"][1]["reason"]
    assert "ended by SIGKILL; see" in found["killed"]["reason"]
    assert all("exit code 1; see" in run["reason"] for run in found["broken"]["runs"])
    lines = capfd.readouterr().err.splitlines()
    assert "good done, 4 of 4 cells" in lines and any(line.startswith("killed stopped: its process") for line in lines)


def test_parallel_jobs_and_their_gpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "3,GPU-5")
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: 8)
    started(tmp_path, gpus=1, job0=["work"], job1=["work"], job2=["work"])
    seen = [(job_folder(tmp_path, f"job{n}") / "seen").read_text().split() for n in range(3)]
    assert {gpu for gpu, *_ in seen[:2]} == {"3", "GPU-5"} and seen[2][0] in ("3", "GPU-5")
    assert float(seen[2][2]) > min(float(when) for *_, when in seen[:2])  # it had to wait for a GPU
    assert {threads for _, threads, _ in seen} == {"2"}  # 8 cores, 4 jobs at a time
    with pytest.raises(UserError, match="the job big needs 4 GPUs, but 2 are visible"):
        started(tmp_path, gpus=4, big=["work"])


def test_gpus_are_dealt_in_parts() -> None:
    free = {"0": 1.0, "1": 0.4}
    assert local._dealt(0, free) == {} and local._dealt(0.25, free) == {"1": 0.25}
    assert local._dealt(0.5, free) == {"0": 0.5} and local._dealt(1, free) == {"0": 1.0}
    assert local._dealt(2, free) is None and local._dealt(2, {"0": 1.0, "1": 1.0}) == {"0": 1.0, "1": 1.0}


def test_ctrl_c_ends_all_workers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local, "GRACE", 0.5)

    def interrupt() -> None:
        while len([*tmp_path.glob("jobs/*/asleep")]) < 2:
            time.sleep(0.02)
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        started(tmp_path, 2, polite=["sleep"], deaf=["ignore"], later=["work"])
    thread.join()
    jobs = [Job(name, [{"do": what}]) for name, what in (("polite", "sleep"), ("deaf", "ignore"), ("later", "work"))]
    assert [state["status"] for state in states(tmp_path, jobs).values()] == ["stopped", "stopped", "waiting"]
