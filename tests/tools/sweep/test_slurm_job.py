"""A job between two time limits."""

import json
from pathlib import Path

import pytest

from afrieval.tools.sweep import slurm
from afrieval.tools.sweep.jobs import Job, job_folder, write_jobs
from afrieval.tools.sweep.slurm import IDLE, SlurmJob, stored
from afrieval.tools.sweep.state import new_state, write_state

pytest.importorskip("submitit", reason="needs submitit (pip install 'afrieval[slurm]')")
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
