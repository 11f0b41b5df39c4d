"""What is submitted to SLURM, a job between time limits, states of jobs; SLURM's programs are small scripts here."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.tools.sweep.files import start

from afrieval._util.errors import UserError
from afrieval.tools.sweep import slurm
from afrieval.tools.sweep.jobs import JOB, Job, job_folder, write_jobs
from afrieval.tools.sweep.slurm import IDLE, Queued, SlurmJob, states, stored
from afrieval.tools.sweep.state import JobProgress, new_state, write_state
from afrieval.tools.sweep.sweep_file import SweepFile

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


def jobs_in(folder: Path, *names: str, gpus: float = 0) -> list[Job]:
    for name in names:
        job_folder(folder, name).mkdir(parents=True)
        (job_folder(folder, name) / JOB).touch()
    return [Job(name, [{}], gpus=gpus) for name in names]


def submitted(cluster: Path, *names: str, **options: Any) -> tuple[Path, list[Job]]:
    """Submits jobs of a sweep; returns its folder and them."""
    folder = cluster / "sweep"
    jobs = jobs_in(folder, *names)
    start(slurm, folder, jobs, sweep_of(**options))
    return folder, jobs


def ids(folder: Path, jobs: list[Job]) -> list[str]:
    return [json.loads((job_folder(folder, job.name) / slurm.ID).read_text())["id"] for job in jobs]


def test_jobs_are_one_array(cluster: Path) -> None:
    folder, jobs = submitted(
        cluster, "a", "b", "c", partition="gpu", account="me", time=90, parallel=2, cpus_per_task=4
    )
    assert ids(folder, jobs) == ["7_0", "7_1", "7_2"]
    script = (cluster / "sbatch-7").read_text()
    lines = ("partition=gpu", "account=me", "time=90", "array=0-2%2", "cpus-per-task=4", "requeue", "signal=USR2@90")
    for line in lines:
        assert f"#SBATCH --{line}\n" in script


def test_jobs_with_other_gpus_are_another_array(cluster: Path) -> None:
    folder = cluster / "sweep"
    jobs = jobs_in(folder, "a", gpus=2) + jobs_in(folder, "b") + jobs_in(folder, "c", gpus=2)
    start(slurm, folder, jobs, sweep_of())
    assert ids(folder, jobs) == ["8_0", "7", "8_1"]
    assert "gpus-per-node" not in (cluster / "sbatch-7").read_text()
    assert "#SBATCH --gpus-per-node=2\n" in (cluster / "sbatch-8").read_text()


def test_gpus_in_words_of_slurm_win(cluster: Path) -> None:
    folder = cluster / "sweep"
    start(slurm, folder, jobs_in(folder, "a", gpus=1), sweep_of(gres="gpu:a100:1"))
    script = (cluster / "sbatch-7").read_text()
    assert "#SBATCH --gres=gpu:a100:1\n" in script
    assert "gpus-per-node" not in script


def test_queued_jobs_are_not_submitted_again(cluster: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder, jobs = submitted(cluster, "a", "b", "c")
    program(cluster, "squeue", "echo '7_0|RUNNING|None'; echo '7_1|PENDING|Priority'; echo '7_2|CANCELLED|None'")
    start(slurm, folder, jobs, sweep_of())
    assert ids(folder, jobs) == ["7_0", "7_1", "8"]
    assert "2 of 3 jobs wait in SLURM's queue already" in capsys.readouterr().out


def test_large_arrays_are_divided(cluster: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slurm, "LONGEST", 2)
    folder, jobs = submitted(cluster, "a", "b", "c")
    assert ids(folder, jobs) == ["7_0", "7_1", "8"]


def test_the_environment_is_restored(cluster: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AFRIEVAL_DATA", "/data/of us")
    monkeypatch.setenv("HF_TOKEN", "hf_secret")
    folder = cluster / "sweep"
    start(slurm, folder, jobs_in(folder, "a"), sweep_of())
    script = (cluster / "sbatch-7").read_text()
    assert f"cd {Path.cwd()}\n" in script
    assert "export AFRIEVAL_DATA='/data/of us'\n" in script
    assert "hf_secret" not in script


def test_what_slurm_refuses(cluster: Path) -> None:
    program(cluster, "sbatch", "echo 'sbatch: error: invalid partition specified: gpux' >&2; exit 1")
    folder = cluster / "sweep"
    with pytest.raises(UserError, match="invalid partition specified: gpux"):
        start(slurm, folder, jobs_in(folder, "a"), sweep_of(partition="gpux"))


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
        slurm.options(sweep_of(**given))


def test_parts_of_a_gpu() -> None:
    with pytest.raises(UserError, match=r"whole GPUs, not 0\.5"):
        slurm.with_gpus(slurm.options(sweep_of()), 0.5)


@pytest.mark.parametrize(("minutes", "seconds"), [(1, 6), (10, 60), (600, 90)])
def test_jobs_are_warned_before_their_limit(minutes: int, seconds: int) -> None:
    assert slurm.options(sweep_of(time=minutes))["signal_delay_s"] == seconds


def test_no_slurm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UserError, match="sbatch is not installed"):
        start(slurm, tmp_path, [], sweep_of())


def shown(folder: Path, jobs: list[Job], **changes: Any) -> list[tuple[str, str]]:
    found = [JobProgress(job, new_state(job) | changes) for job in jobs]  # type: ignore[arg-type]
    return [(each.state["status"], each.queue) for each in slurm.with_queue(folder, found)]


def test_states_of_slurm_are_shown(cluster: Path) -> None:
    folder = cluster / "sweep"
    jobs = jobs_in(folder, "a", "b", "c", "d")
    start(slurm, folder, jobs[:3], sweep_of())
    program(cluster, "squeue", "echo '7_0|RUNNING|None'; echo '7_1|PENDING|Priority'; echo '7_2|TIMEOUT|TimeLimit'")
    assert shown(folder, jobs, status="stopped") == [
        ("running", "7_0 running"),
        ("waiting", "7_1 pending (Priority)"),
        ("stopped", "7_2 timeout (TimeLimit)"),
        ("stopped", ""),
    ]


def test_finished_jobs_are_not_looked_for(cluster: Path) -> None:
    folder, jobs = submitted(cluster, "a")
    program(cluster, "squeue", "exit 1")
    assert shown(folder, jobs, status="done") == [("done", "")]


def test_status_without_slurm(cluster: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder, jobs = submitted(cluster, "a")
    program(cluster, "squeue", "echo 'Unable to contact slurm controller' >&2; exit 1")
    assert shown(folder, jobs) == [("waiting", "")]
    assert "Unable to contact slurm controller" in capsys.readouterr().err


def test_a_damaged_id(cluster: Path) -> None:
    folder = cluster / "sweep"
    jobs = jobs_in(folder, "a")
    (job_folder(folder, "a") / slurm.ID).write_text("7")
    with pytest.raises(UserError, match=r"slurm\.json: the content must be a map"):
        start(slurm, folder, jobs, sweep_of())


PLACE = "runs/afrixnli/a/0shot"


@pytest.fixture
def job(tmp_path: Path) -> Job:
    """Writes a job with one run, that has stored nothing yet."""
    found = Job("a", [{"x": 1}])
    write_jobs(tmp_path, [found])
    state = new_state(found)
    state["runs"][0] |= {"folder": PLACE, "cells": 2}
    write_state(tmp_path, found, state)
    return found


def answer(folder: Path, number: int) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "answers_0.jsonl").open("a") as file:
        file.write(json.dumps([str(number), [0.5]]) + "\n")


def test_answers_and_cells_are_progress(tmp_path: Path, job: Job) -> None:
    assert stored(tmp_path, job.name) == (0, 0)
    answer(tmp_path / PLACE, 1)
    cells, size = stored(tmp_path, job.name)
    assert (cells, size > 0) == (0, True)


def test_a_share_counts_its_own_answers(tmp_path: Path) -> None:
    share = Job("a", [{"x": 1}], share=1, shares=2)
    write_jobs(tmp_path, [share])
    state = new_state(share)
    state["runs"][0]["folder"] = PLACE
    write_state(tmp_path, share, state)
    answer(tmp_path / PLACE, 1)
    assert stored(tmp_path, share.name) == (0, 0)
    answer(job_folder(tmp_path, share.name) / PLACE, 1)
    assert stored(tmp_path, share.name)[1] > 0


def test_a_job_with_progress_is_requeued_again_and_again(tmp_path: Path, job: Job) -> None:
    turn = SlurmJob(str(tmp_path), job.name)
    for number in range(10):
        turn.before = stored(tmp_path, job.name)
        answer(tmp_path / PLACE, number)
        assert turn.checkpoint().function is turn


def test_a_job_without_progress_is_given_up(tmp_path: Path, job: Job) -> None:
    turn = SlurmJob(str(tmp_path), job.name)
    for _ in range(IDLE - 1):
        turn.checkpoint()
    with pytest.raises(SystemExit, match=r"raise slurm\.time"):
        turn.checkpoint()


def test_one_answer_forgives_idle_turns(tmp_path: Path, job: Job) -> None:
    turn = SlurmJob(str(tmp_path), job.name)
    for _ in range(IDLE - 1):
        turn.checkpoint()
    answer(tmp_path / PLACE, 1)
    turn.checkpoint()
    assert turn.idle == 0


def test_a_stopped_job_ends_with_an_exit_code(tmp_path: Path, job: Job, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slurm, "write_to_log", lambda folder, name: None)
    monkeypatch.setattr(slurm, "stoppable", lambda work, goes_on: 143)
    with pytest.raises(SystemExit) as ended:
        SlurmJob(str(tmp_path), job.name)()
    assert ended.value.code == 143


def test_queued_and_running_jobs_with_reasons(cluster: Path) -> None:
    program(cluster, "squeue", "echo '12_0|PENDING|Priority'; echo '12_1|RUNNING|None'; echo '13|PENDING|Resources'")
    assert states(["12_0", "12_1"]) == {"12_0": Queued("PENDING", "Priority"), "12_1": Queued("RUNNING", "")}


def test_older_jobs_are_looked_for_in_the_accounts(cluster: Path) -> None:
    program(cluster, "squeue", "echo '12_0|RUNNING|None'")
    program(
        cluster, "sacct", "echo '12_1|TIMEOUT'; echo '12_2|CANCELLED by 1000'; echo '12_0|PENDING'; echo '99|FAILED'"
    )
    found = states(["12_0", "12_1", "12_2", "12_3"])
    assert {name: each.state for name, each in found.items()} == {
        "12_0": "RUNNING",
        "12_1": "TIMEOUT",
        "12_2": "CANCELLED",
    }


def test_a_cluster_without_accounts_has_no_older_jobs(cluster: Path) -> None:
    program(cluster, "squeue", "")
    program(cluster, "sacct", "echo 'Slurm accounting storage is disabled' >&2; exit 1")
    assert states(["12"]) == {}


def test_slurm_is_not_asked_about_nothing(cluster: Path) -> None:
    program(cluster, "squeue", "exit 1")
    assert states([]) == {}


def test_a_controller_that_does_not_answer(cluster: Path) -> None:
    program(cluster, "squeue", "echo 'slurm_load_jobs error: Unable to contact slurm controller' >&2; exit 1")
    with pytest.raises(UserError, match="Unable to contact slurm controller"):
        states(["12"])


def test_no_queue(cluster: Path) -> None:
    (cluster / "bin/squeue").unlink()
    with pytest.raises(UserError, match="squeue is not installed"):
        states(["12"])
