"""What is submitted to SLURM, a job between time limits, states of jobs; SLURM's programs are small scripts here."""

import json
from collections.abc import Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Any

import pytest
from tests.tools.jobs.files import start

from afrieval._util.errors import UserError
from afrieval.addons.sweep import slurm
from afrieval.addons.sweep.slurm import IDLE, JobProgress, SlurmJob, states, stored
from afrieval.addons.sweep.sweep_file import SweepFile
from afrieval.tools.jobs.jobs import JOB, Job, job_folder, write_jobs
from afrieval.tools.jobs.state import new_state, write_state

pytest.importorskip("submitit", reason="needs submitit (pip install 'afrieval[slurm]')")
SBATCH = """
n=$(cat {here}/count 2>/dev/null || echo 6)
n=$((n + 1)); echo $n > {here}/count
cp "$1" {here}/sbatch-$n
echo "Submitted batch job $n"
"""


def sweep_of(**slurm_options: Any) -> SweepFile:
    return SweepFile(models=["m.yaml"], suites=["s.yaml"], slurm=slurm_options)


@pytest.fixture
def cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Installs the programs, and returns the folder in which sbatch leaves what it is given."""
    programs = tmp_path / "bin"
    programs.mkdir()
    for name, script in {"sbatch": SBATCH.format(here=tmp_path), "srun": "", "squeue": "", "sacct": ""}.items():
        program(tmp_path, name, script)
    monkeypatch.setenv("PATH", f"{programs}:/usr/bin:/bin")
    return tmp_path


def program(cluster: Path, name: str, script: str) -> None:
    (cluster / "bin" / name).write_text(f"#!/bin/sh\n{script}\n")
    (cluster / "bin" / name).chmod(0o755)


def submitted(cluster: Path, *names: str, gpus: Sequence[float] = (), **options: Any) -> tuple[Path, list[Job]]:
    """Submits jobs of a sweep, which have no GPUs if none are given; returns its folder and them."""
    folder = cluster / "sweep"
    jobs = [Job(name, [{}], gpus=of) for name, of in zip_longest(names, gpus, fillvalue=0)]  # type: ignore[arg-type]
    for job in jobs:
        job_folder(folder, job.name).mkdir(parents=True, exist_ok=True)
        (job_folder(folder, job.name) / JOB).touch()
    start(slurm, folder, jobs, sweep_of(**options))
    return folder, jobs


def ids(folder: Path, jobs: list[Job]) -> list[str]:
    return [json.loads((job_folder(folder, job.name) / slurm.ID).read_text())["id"] for job in jobs]


def test_jobs_are_one_array(cluster: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AFRIEVAL_DATA", "/data/of us")
    monkeypatch.setenv("HF_TOKEN", "hf_secret")
    options: dict[str, Any] = {"partition": "gpu", "account": "me", "time": 90, "parallel": 2, "cpus_per_task": 4}
    assert ids(*submitted(cluster, "a", "b", "c", **options)) == ["7_0", "7_1", "7_2"]
    script = (cluster / "sbatch-7").read_text()
    lines = ("partition=gpu", "account=me", "time=90", "array=0-2%2", "cpus-per-task=4", "requeue", "signal=USR2@90")
    for line in lines:
        assert f"#SBATCH --{line}\n" in script
    assert f"cd {Path.cwd()}\n" in script and "export AFRIEVAL_DATA='/data/of us'\n" in script
    assert "hf_secret" not in script


def test_jobs_with_other_gpus_are_another_array(cluster: Path) -> None:
    assert ids(*submitted(cluster, "a", "b", "c", gpus=(2, 0, 2))) == ["8_0", "7", "8_1"]
    assert "gpus-per-node" not in (cluster / "sbatch-7").read_text()
    assert "#SBATCH --gpus-per-node=2\n" in (cluster / "sbatch-8").read_text()
    submitted(cluster, "d", gpus=(1,), gres="gpu:a100:1")
    in_words_of_slurm = (cluster / "sbatch-9").read_text()
    assert "#SBATCH --gres=gpu:a100:1\n" in in_words_of_slurm and "gpus-per-node" not in in_words_of_slurm


def test_queued_jobs_are_not_submitted_again(cluster: Path, capsys: pytest.CaptureFixture[str]) -> None:
    submitted(cluster, "a", "b", "c")
    program(cluster, "squeue", "echo '7_0|RUNNING|None'; echo '7_1|PENDING|Priority'; echo '7_2|CANCELLED|None'")
    assert ids(*submitted(cluster, "a", "b", "c")) == ["7_0", "7_1", "8"]
    assert "2 of 3 jobs wait in SLURM's queue already" in capsys.readouterr().out


def test_large_arrays_are_divided(cluster: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slurm, "LONGEST", 2)
    assert ids(*submitted(cluster, "a", "b", "c")) == ["7_0", "7_1", "8"]


def test_what_slurm_refuses(cluster: Path) -> None:
    program(cluster, "sbatch", "echo 'sbatch: error: invalid partition specified: gpux' >&2; exit 1")
    with pytest.raises(UserError, match="invalid partition specified: gpux"):
        submitted(cluster, "a", partition="gpux")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"array": "0-3"}, r"slurm\.array is decided by the sweep"),
        ({"ntasks-per-node": 2}, r"slurm\.ntasks_per_node is decided by the sweep"),
        ({"time": "1-00:00:00"}, r"slurm\.time must be a whole number of minutes"),
        ({"time": 0}, r"slurm\.time must be"),
        ({"parallel": True}, r"slurm\.parallel must be a whole number of jobs"),
        ({"exclude": ["a", "b"]}, r"slurm\.exclude must be text"),
    ],
)
def test_invalid_options(given: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError, match=message):
        slurm.options(given)


def test_parts_of_a_gpu() -> None:
    with pytest.raises(UserError, match=r"whole GPUs, not 0\.5"):
        slurm.with_gpus(slurm.options({}), 0.5)


@pytest.mark.parametrize(("minutes", "seconds"), [(1, 6), (10, 60), (600, 90)])
def test_jobs_are_warned_before_their_limit(minutes: int, seconds: int) -> None:
    assert slurm.options({"time": minutes})["signal_delay_s"] == seconds


def test_no_slurm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UserError, match="sbatch is not installed"):
        start(slurm, tmp_path, [], sweep_of())


def shown(folder: Path, jobs: list[Job], **changes: Any) -> list[tuple[str, str]]:
    found = [JobProgress(job, new_state(job) | changes) for job in jobs]  # type: ignore[arg-type]
    return [(each.state["status"], each.queue) for each in slurm.with_queue(folder, found)]


def test_states_of_slurm_are_shown(cluster: Path) -> None:
    folder, jobs = submitted(cluster, "a", "b", "c")
    program(cluster, "squeue", "echo '7_0|RUNNING|None'; echo '7_1|PENDING|Priority'; echo '7_2|TIMEOUT|TimeLimit'")
    assert shown(folder, [*jobs, Job("d", [{}])], status="stopped") == [
        ("running", "7_0 running"),
        ("waiting", "7_1 pending (Priority)"),
        ("stopped", "7_2 timeout (TimeLimit)"),
        ("stopped", ""),
    ]
    program(cluster, "squeue", "exit 1")
    assert shown(folder, jobs, status="done") == [("done", "")] * 3, "finished jobs are not looked for"


@pytest.mark.parametrize("why", ["Unable to contact slurm controller", "squeue is not installed"])
def test_status_without_slurm(cluster: Path, capsys: pytest.CaptureFixture[str], why: str) -> None:
    folder, jobs = submitted(cluster, "a")
    if why.startswith("squeue"):
        (cluster / "bin/squeue").unlink()
    else:
        program(cluster, "squeue", f"echo 'slurm_load_jobs error: {why}' >&2; exit 1")
    assert shown(folder, jobs) == [("waiting", "")]
    assert why in capsys.readouterr().err


def test_a_damaged_id(cluster: Path) -> None:
    folder, _ = submitted(cluster, "a")
    (job_folder(folder, "a") / slurm.ID).write_text("7")
    with pytest.raises(UserError, match=r"slurm\.json: the content must be a map"):
        submitted(cluster, "a")


def test_older_jobs_are_looked_for_in_the_accounts(cluster: Path) -> None:
    program(cluster, "squeue", "echo '12_0|RUNNING|None'")
    lines = ("12_1|TIMEOUT", "12_2|CANCELLED by 1000", "12_0|PENDING", "99|FAILED")
    program(cluster, "sacct", "".join(f"echo '{line}'; " for line in lines))
    found = states(["12_0", "12_1", "12_2", "12_3"])
    expected = {"12_0": "RUNNING", "12_1": "TIMEOUT", "12_2": "CANCELLED"}
    assert {name: each.state for name, each in found.items()} == expected
    program(cluster, "sacct", "echo 'Slurm accounting storage is disabled' >&2; exit 1")
    assert [*states(["12_0", "12_1"])] == ["12_0"]


PLACE = "runs/afrixnli/a/0shot"


def job_of(folder: Path, shares: int = 1) -> Job:
    """Returns a job with one run that has stored nothing yet."""
    found = Job("a", [{"x": 1}], shares=shares)
    write_jobs(folder, [found])
    state = new_state(found)
    state["runs"][0] |= {"folder": PLACE, "cells": 2}
    write_state(folder, found, state)
    return found


def answer(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "answers_0.jsonl").open("a") as file:
        file.write('["0", [0.5]]\n')


@pytest.mark.parametrize("shares", [1, 2])
def test_answers_are_progress(tmp_path: Path, shares: int) -> None:
    """Those of a share are in its own folder."""
    job = job_of(tmp_path, shares)
    top, other = tmp_path / PLACE, job_folder(tmp_path, job.name) / PLACE
    answer(other if shares == 1 else top)
    assert stored(tmp_path, job.name) == (0, 0)
    answer(top if shares == 1 else other)
    cells, size = stored(tmp_path, job.name)
    assert (cells, size > 0) == (0, True)


def test_a_job_is_requeued_until_it_does_not_get_on(tmp_path: Path) -> None:
    turn = SlurmJob(str(tmp_path), job_of(tmp_path).name)
    for _ in range(2):
        for _ in range(IDLE - 1):
            assert turn.checkpoint().function is turn
        answer(tmp_path / PLACE)  # which forgives idle turns
        assert turn.checkpoint().function is turn and turn.idle == 0
        turn.before = stored(tmp_path, turn.job)
    for _ in range(IDLE - 1):
        turn.checkpoint()
    with pytest.raises(SystemExit, match=r"raise slurm\.time"):
        turn.checkpoint()


def test_a_stopped_job_ends_with_an_exit_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slurm, "write_to_log", lambda folder, name: None)
    monkeypatch.setattr(slurm, "stoppable", lambda work, goes_on: 143)
    with pytest.raises(SystemExit) as ended:
        SlurmJob(str(tmp_path), job_of(tmp_path).name)()
    assert ended.value.code == 143
