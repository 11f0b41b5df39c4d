"""`afrieval sweep`: from a file to run folders, as several single runs would have written them."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest
from tests.conftest import ROOT, Cli
from tests.models.tiny import tiny_llama
from tests.tools.jobs.files import COMMON, write_sweep

from afrieval.tools.jobs.job_worker import work
from afrieval.tools.jobs.jobs import Executor, Job


@pytest.fixture
def _here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs the jobs of the executor local in this process."""

    def run_jobs(folder: Path, jobs: list[Job], executor: Executor) -> None:
        for job in jobs:
            work(folder, job.name)

    monkeypatch.setattr("afrieval.tools.jobs.start.run_jobs", run_jobs)


@pytest.mark.usefixtures("_here")
def test_a_sweep_from_its_plan_to_its_end(cli: Cli, tmp_path: Path) -> None:
    missing = str(tmp_path / "nothing")
    path = write_sweep(tmp_path / "sweep.yaml", models=[{"model_name": "demo", "shares": 2}, {"model_name": missing}])
    planned = cli("sweep", path, "--dry-run")
    assert planned.code == 0 and not (tmp_path / "out").exists()
    assert [line.split()[0] for line in planned.out.splitlines() if "afrixnli" in line] == [
        "demo-1of2", "demo-2of2", "nothing",
    ]  # fmt: skip
    waiting = cli("sweep", path, "--status")
    assert "out does not exist: the sweep has not been started here" in waiting.err
    assert waiting.code == 0 and waiting.out.count("waiting") == 3
    done = cli("sweep", path)
    assert done.code == 1 and "2 done, 1 failed of 3 jobs" in done.out and str(tmp_path / "out/runs") in done.out
    assert "1 job failed; --status says why, and --retry-failed runs it again" in done.err
    status = cli("sweep", path, "--status")
    assert status.code == 1 and status.out.count("done") >= 2 and "failed" in status.out
    again = cli("sweep", path)
    assert again.code == 1 and "to run:" not in again.err
    tiny_llama(tmp_path / "nothing")
    retried = cli("sweep", path, "--retry-failed")
    assert retried.code == 0 and "3 done of 3 jobs" in retried.out
    shown = cli("show", *(folder.parent for folder in (tmp_path / "out/runs").glob("*/*/*/run.yaml")))
    assert shown.code == 0 and "Yoruba" in shown.out
    path = write_sweep(path, models=[{"model_name": "demo", "shares": 2}])
    former = cli("sweep", path, "--status")
    assert former.code == 0 and "not in the sweep" in " ".join(former.out.split())


def test_what_cannot_be_started(cli: Cli, tmp_path: Path) -> None:
    path = write_sweep(tmp_path / "sweep.yaml")
    both = cli("sweep", path, "--status", "--retry-failed")
    assert both.code == 2 and "--status starts nothing" in both.err
    wrong = cli("sweep", path, "--executor", "pbs")
    assert wrong.code == 2 and "executor must be local, slurm or ray" in wrong.err
    missing = cli("sweep", tmp_path / "swep.yaml")
    assert missing.code == 2 and "there is no file" in missing.err and "did you mean sweep.yaml?" in missing.err
    path.write_text("[]")
    assert cli("sweep", path).code == 2


def test_two_at_once(cli: Cli, tmp_path: Path) -> None:
    from afrieval.tools.jobs.jobs import held

    (tmp_path / "out").mkdir()
    with held(tmp_path / "out") as free:
        done = cli("sweep", write_sweep(tmp_path / "sweep.yaml"))
    assert free and done.code == 2 and "is in use by another process" in done.err


def sweep(path: Path, *words: str) -> "subprocess.Popen[str]":
    """Starts `afrieval sweep` in a process of its own."""
    without = {name: value for name, value in os.environ.items() if name != "AFRIEVAL_DATA"}
    return subprocess.Popen(
        [sys.executable, "-m", "afrieval.cli.main", "sweep", str(path), *words],
        env={**without, "PYTHONPATH": str(ROOT / "src")}, cwd=ROOT, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_a_sweep_that_is_stopped_continues(cli: Cli, tmp_path: Path, how: signal.Signals) -> None:
    """SIGKILL is sent to a worker, and SIGINT to the command, as soon as a cell is stored."""
    common = {key: value for key, value in COMMON.items() if key != "task.prompts"}
    path = write_sweep(tmp_path / "sweep.yaml", common=common, shares=2, settings=[{}, {"eval.num_fewshot": 2}])
    process = sweep(path)
    until = time.monotonic() + 200
    while not [*tmp_path.glob("out/jobs/*/runs/**/samples_*")] and time.monotonic() < until:
        time.sleep(0.01)
    (worker,) = psutil.Process(process.pid).children()
    (worker.send_signal if how == signal.SIGKILL else process.send_signal)(how)
    out, err = process.communicate(timeout=300)
    assert process.returncode == (1 if how == signal.SIGKILL else 130), err
    with contextlib.suppress(psutil.NoSuchProcess):
        assert not worker.is_running() or worker.status() == psutil.STATUS_ZOMBIE
    states = [json.loads(path.read_text())["status"] for path in sorted(tmp_path.glob("out/jobs/*/state.json"))]
    assert states[0] == "stopped", out
    continued = sweep(path)
    out, err = continued.communicate(timeout=300)
    assert continued.returncode == 0 and "2 done of 2 jobs" in out, err
    for run in (tmp_path / "out/runs/afrixnli/demo").iterdir():
        shots = "2" if "2shot" in run.name else "0"
        words = ["--task.task_name", "afrixnli", "--task.languages", "yor,hau", "--task.prompt_language", "both"]
        words += ["--eval.limit", "2", "--data.source", "samples", "--run_dir", str(tmp_path / shots)]
        assert cli("run", "--model.model_name", "demo", *words, "--eval.num_fewshot", shots).code == 0
        for name in ("summary.csv", "results.json"):
            assert (run / name).read_bytes() == (tmp_path / shots / name).read_bytes()
