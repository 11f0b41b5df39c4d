"""Sweeps on a SLURM node and on Ray clusters that are started here, compared with the same sweep on this machine.

They take minutes: `make test-cluster`. SLURM is left out, with the reason, where it is not installed or without root.
"""

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.addons.sweep.slurm_node import slurm_node, why_not
from tests.models.tiny import tiny_llama
from tests.tools.jobs.files import states
from tests.tools.jobs.slow import slow_llama

from afrieval.tools.jobs.jobs import job_folder, read_job, stored_jobs

pytestmark = pytest.mark.cluster
ROOT = Path(__file__).parents[3]
SUITE = {"task_name": "afrixnli", "languages": ["yor", "hau"], "prompts": [1, 2]}
EQUAL = ("summary.csv", "results.json", "samples_*.jsonl")
PATIENCE = 500  # seconds for a sweep
needs_ray = pytest.mark.skipif(find_spec("ray") is None, reason="needs ray (pip install 'afrieval[ray]')")


@pytest.fixture(scope="module")
def slurm() -> Iterator[Path]:
    if reason := why_not() or ("" if find_spec("submitit") else "needs submitit (pip install 'afrieval[slurm]')"):
        pytest.skip(reason)
    with slurm_node() as folder:
        yield folder


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Returns three models that work, and one that does not."""
    folder = tmp_path_factory.mktemp("models")
    good = [str(tiny_llama(folder / f"tiny{seed}", seed)) for seed in range(3)]
    bad = tiny_llama(folder / "bad")
    (bad / "model.safetensors").write_bytes(b"no weights")
    return [*good, str(bad)]


def write_sweep(path: Path, models: list[Any], **keys: Any) -> Path:
    """Writes a sweep file, whose folder has its name without the extension."""
    content = {"models": models, "suites": [SUITE], "common": {"data.source": "samples"}, **keys}
    path.write_text(yaml.safe_dump(content | {"folder": str(path.with_suffix(""))}))
    return path


def environment() -> dict[str, str]:
    return os.environ | {"PYTHONPATH": f"{ROOT / 'src'}", "OMP_NUM_THREADS": "1"}


def command(file: Path, *words: str) -> list[str]:
    return [sys.executable, "-m", "afrieval.cli.main", "sweep", str(file), *words]


def sweep(file: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Runs `afrieval sweep`."""
    return subprocess.run(
        command(file, *words), capture_output=True, text=True, check=False, env=environment(), timeout=PATIENCE
    )


def statuses(file: Path) -> dict[str, str]:
    folder = file.with_suffix("")
    found = states(folder, [read_job(folder, name) for name in stored_jobs(folder)])
    return {name: state["status"] for name, state in found.items()}


def wait(ready: Callable[[], bool], what: str, log: Callable[[], str]) -> None:
    end = time.monotonic() + PATIENCE
    while not ready():
        assert time.monotonic() < end, f"{what} within {PATIENCE} seconds\n{log()}"
        time.sleep(0.5)


def wait_for_answers(asked: Path, log: Callable[[], str] = str) -> None:
    wait(lambda: asked.exists() and len(asked.read_text().split()) > 10, "no answers", log)


def queue() -> str:
    return subprocess.run(["squeue", "--states=all"], capture_output=True, text=True, check=False).stdout


def wait_for_slurm(file: Path) -> None:
    """Waits until the queue is empty."""
    listed = ["squeue", "--noheader"]
    wait(lambda: not subprocess.run(listed, capture_output=True, check=True).stdout, "not finished", queue)


def results(file: Path) -> dict[str, bytes]:
    """Returns the tables and samples of all runs of a sweep."""
    runs = file.with_suffix("") / "runs"
    return {str(path.relative_to(runs)): path.read_bytes() for name in EQUAL for path in sorted(runs.rglob(name))}


@pytest.fixture(scope="module")
def on_this_machine(models: list[str], tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """Returns the results of the three models, run here."""
    file = write_sweep(tmp_path_factory.mktemp("local") / "local.yaml", [{"model_name": name} for name in models[:3]])
    assert sweep(file).returncode == 0
    found = results(file)
    assert len(found) == 3 * (2 + 4)
    return found


def entries(models: list[str]) -> list[dict[str, Any]]:
    """Returns models, one of which has two shares."""
    return [{"model_name": models[0], "shares": 2}, *({"model_name": name} for name in models[1:])]


def check_all_but_the_bad_one(file: Path, expected: dict[str, bytes]) -> None:
    assert statuses(file) == {
        "bad": "failed", "tiny0-1of2": "done", "tiny0-2of2": "done", "tiny1": "done", "tiny2": "done",
    }  # fmt: skip
    assert results(file) == expected
    shown = sweep(file, "--status")
    assert shown.returncode == 1
    assert "bad" in shown.stdout and "failed" in shown.stdout


def test_equal_tables_on_slurm(
    slurm: Path, models: list[str], on_this_machine: dict[str, bytes], tmp_path: Path
) -> None:
    file = write_sweep(tmp_path / "s.yaml", entries(models), executor="slurm", slurm={"time": 10})
    submitted = sweep(file)
    assert submitted.returncode == 0, submitted.stderr
    assert "submitted 5 jobs to SLURM" in submitted.stdout
    shown = sweep(file, "--status").stdout
    assert "pending" in shown or "running" in shown
    again = sweep(file)
    assert "submitted" not in again.stdout
    wait_for_slurm(file)
    check_all_but_the_bad_one(file, on_this_machine)


@needs_ray
def test_equal_tables_on_ray(models: list[str], on_this_machine: dict[str, bytes], tmp_path: Path) -> None:
    file = write_sweep(tmp_path / "r.yaml", entries(models), executor="ray")
    ran = sweep(file)
    assert ran.returncode == 1, ran.stderr
    assert "4 done" in ran.stdout and "1 failed" in ran.stdout
    check_all_but_the_bad_one(file, on_this_machine)


@needs_ray
def test_a_running_ray_cluster(models: list[str], on_this_machine: dict[str, bytes], tmp_path: Path) -> None:
    file = write_sweep(tmp_path / "r.yaml", entries(models[:3]), executor="ray", ray={"address": "127.0.0.1:26379"})
    missing = sweep(file)
    assert missing.returncode == 2
    assert "the Ray cluster 127.0.0.1:26379 does not answer" in missing.stderr
    head = [str(Path(sys.executable).with_name("ray")), "start", "--head", "--port=26379", "--num-cpus=2", "--block"]
    head += ["--include-dashboard=false", "--disable-usage-stats", "--node-ip-address=127.0.0.1"]
    with (tmp_path / "ray.txt").open("wb") as log:
        cluster = subprocess.Popen(head, stdout=log, stderr=log, env=environment(), start_new_session=True)
    try:
        wait(lambda: "Ray runtime started" in (tmp_path / "ray.txt").read_text(), "no cluster", lambda: "")
        ran = sweep(file)
        assert ran.returncode == 0, ran.stderr
    finally:
        cluster.terminate()
        cluster.wait(30)
    assert results(file) == on_this_machine


def slow_sweep(tmp_path: Path, name: str, seconds: float, **keys: Any) -> tuple[Path, Path]:
    """Writes a sweep of one slow model, and returns it and the file with what the model was asked."""
    asked = tmp_path / f"{name}-asked.txt"
    model = slow_llama(tmp_path / name / "slow", seconds, asked)
    entry = tmp_path / name / "slow.yaml"
    entry.write_text(yaml.safe_dump({"model_name": str(model), "trust_remote_code": True}))
    common = {"data.source": "samples", "eval.batch_size": 1, "task.prompts": [1]}
    return write_sweep(tmp_path / f"{name}.yaml", [str(entry)], common=common, **keys), asked


def asked_by_an_undisturbed_run(tmp_path: Path) -> tuple[Counter[str], dict[str, bytes]]:
    file, asked = slow_sweep(tmp_path, "undisturbed", 0)
    assert sweep(file).returncode == 0
    return Counter(asked.read_text().split()), results(file)


def check_nothing_was_asked_twice(tmp_path: Path, file: Path, asked: Path, starts: int) -> None:
    """Compares with an undisturbed run.

    A pass that is interrupted after it was noted is asked again, once for each start, and so is what each start tries
    out.
    """
    expected, tables = asked_by_an_undisturbed_run(tmp_path)
    found = Counter(asked.read_text().split())
    assert results(file) == tables
    assert found.keys() == expected.keys()
    assert (found - expected).total() <= 3 * (starts - 1)


def test_a_job_that_runs_out_of_time_goes_on(slurm: Path, tmp_path: Path) -> None:
    file, asked = slow_sweep(tmp_path, "slow", 1, executor="slurm", slurm={"time": 1})
    assert sweep(file).returncode == 0
    wait_for_slurm(file)
    log = (job_folder(file.with_suffix(""), "slow") / "log.txt").read_text()
    starts = log.count("to run:")
    assert starts > 1, log
    assert statuses(file) == {"slow": "done"}, log
    check_nothing_was_asked_twice(tmp_path, file, asked, starts)


def test_a_cancelled_job_is_continued_by_the_same_command(slurm: Path, tmp_path: Path) -> None:
    file, asked = slow_sweep(tmp_path, "slow", 0.5, executor="slurm", slurm={"time": 10, "job-name": "slow"})
    sweep(file)
    wait_for_answers(asked, queue)
    assert "running" in sweep(file, "--status").stdout
    subprocess.run(["scancel", "--name=slow"], check=True)
    wait_for_slurm(file)
    assert statuses(file) == {"slow": "stopped"}
    assert "cancelled" in sweep(file, "--status").stdout
    assert "submitted 1 job to SLURM" in sweep(file).stdout
    wait_for_slurm(file)
    assert statuses(file) == {"slow": "done"}
    check_nothing_was_asked_twice(tmp_path, file, asked, 2)


def test_a_job_that_never_gets_on_is_given_up(slurm: Path, tmp_path: Path) -> None:
    file, _ = slow_sweep(tmp_path, "stuck", 3600, executor="slurm", slurm={"time": 1})
    sweep(file)
    wait_for_slurm(file)
    shown = sweep(file, "--status").stdout
    assert "raise slurm.time" in " ".join(shown.split()), shown


def worker_pids(file: Path) -> list[int]:
    """Returns the processes of Ray's actors that hold the log of a job."""
    logs = {str(path) for path in file.with_suffix("").glob("jobs/*/log.txt")}
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if str((process / "fd/1").readlink()) in logs:
                found.append(int(process.name))
        except OSError:
            continue
    return found


@needs_ray
def test_an_actor_that_is_killed_goes_on_elsewhere(tmp_path: Path) -> None:
    file, asked = slow_sweep(tmp_path, "slow", 0.4, executor="ray")
    with subprocess.Popen(command(file), env=environment(), stderr=subprocess.PIPE, text=True) as running:
        wait_for_answers(asked)
        killed = worker_pids(file)
        for pid in killed:
            os.kill(pid, signal.SIGKILL)
        assert running.wait(PATIENCE) == 0
    assert killed
    check_nothing_was_asked_twice(tmp_path, file, asked, 2)


@needs_ray
def test_ctrl_c_stops_actors_and_the_same_command_continues(tmp_path: Path) -> None:
    file, asked = slow_sweep(tmp_path, "slow", 0.4, executor="ray")
    with subprocess.Popen(command(file), env=environment(), stderr=subprocess.PIPE, text=True) as running:
        wait_for_answers(asked)
        running.send_signal(signal.SIGINT)
        errors = running.communicate(timeout=PATIENCE)[1]
    assert running.returncode == 130, errors
    assert "Traceback" not in errors and "continues" in errors
    assert statuses(file) == {"slow": "stopped"}
    assert not worker_pids(file)
    folder = file.with_suffix("")
    state = json.loads((job_folder(folder, "slow") / "state.json").read_text())
    assert state["status"] == "stopped"  # the worker wrote it itself: it was not killed
    assert sweep(file).returncode == 0
    check_nothing_was_asked_twice(tmp_path, file, asked, 2)
