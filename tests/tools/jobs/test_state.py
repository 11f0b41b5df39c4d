"""What state.json and the lock of a job say together; how cells are dealt to jobs."""

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.cells import FakeCell

from afrieval._util.errors import UserError
from afrieval.addons.sweep.command import status_table
from afrieval.addons.sweep.slurm import JobProgress
from afrieval.report.formats import text
from afrieval.results.cell_key import CellKey
from afrieval.tools.jobs.jobs import Job, held, job_folder, write_jobs
from afrieval.tools.jobs.shares import dealt
from afrieval.tools.jobs.state import STATE, State, new_state, read_state, write_state

JOB = Job("demo", [{"task.task_name": "afrixnli"}, {"task.task_name": "afrimmlu"}])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_jobs(tmp_path, [JOB])
    return tmp_path


def running() -> State:
    state = new_state(JOB)
    state |= {"status": "running", "since": "2030-01-01T10:00:00+00:00", "seconds_left": 3700.0}
    state["runs"][0] |= {"cells": 8, "finished": 3, "status": "running"}
    return state


def test_a_job_runs_as_long_as_its_lock_is_held(folder: Path) -> None:
    assert read_state(folder, JOB) == new_state(JOB)
    write_state(folder, JOB, running())
    assert read_state(folder, JOB)["status"] == "stopped"  # its process was killed
    with held(job_folder(folder, "demo")) as free, held(job_folder(folder, "demo"), patience=0) as second:
        assert free and not second and read_state(folder, JOB)["status"] == "running"
    assert read_state(folder, JOB)["status"] == "stopped"


def test_a_job_that_changed_waits(folder: Path) -> None:
    write_state(folder, JOB, {**running(), "status": "done"})
    changed = Job("demo", [{"task.task_name": "afrixnli", "eval.limit": 3}])
    assert read_state(folder, changed) == new_state(changed) and read_state(folder, JOB)["status"] == "done"


def test_a_damaged_state_is_named(folder: Path) -> None:
    write_state(folder, JOB, running())
    path = job_folder(folder, "demo") / STATE
    path.write_text(json.dumps({**running(), "status": "dome"}))
    with pytest.raises(UserError, match=r"state\.json: status must be waiting, running, done, failed or stopped") as e:
        read_state(folder, JOB)
    assert e.value.hint == f"delete {path}; what is stored in run folders is not run again"


def test_the_table(folder: Path) -> None:
    failed = new_state(JOB)
    failed["status"] = "failed"
    for run in failed["runs"]:
        run |= {"status": "failed", "reason": "there is no model"}
    shown = text([status_table("Jobs", [JobProgress(JOB, running()), JobProgress(JOB, failed, listed=False)])])
    lines = [" ".join(line.split()) for line in shown.splitlines()]
    assert "demo running 3 8 1:01:40 2030-01-01 10:00" in lines
    assert any(line.startswith("demo failed") for line in lines)
    assert " ".join(lines).count("there is no") == 1 and "not in the sweep file any more" in " ".join(shown.split())


def test_the_table_of_states_needs_no_planning() -> None:
    loaded = "'afrieval.run.session' in sys.modules"
    code = f"import sys; from afrieval.addons.sweep import combinations, command; print({loaded})"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.startswith("False"), "--status would take seconds"


def cells(sizes: list[int]) -> list[FakeCell]:
    places = [CellKey("t", prompt=number) for number in range(len(sizes))]
    return [FakeCell(f"t{at}", key=place, n_requests=sizes[at]) for at, place in enumerate(places)]


@given(st.lists(st.integers(0, 1000), max_size=40), st.integers(1, 9))
def test_every_cell_is_in_one_share_and_shares_are_even(sizes: list[int], shares: int) -> None:
    whole = cells(sizes)
    found = dealt(whole, shares)
    assert len(found) == shares
    again = dealt(sorted(whole, key=lambda c: (c.n_requests % 3, c.name)), shares)  # whatever the order of the plan
    assert [{c.name for c in share} for share in again] == [{c.name for c in share} for share in found]
    assert sorted(c.name for share in found for c in share) == sorted(c.name for c in whole)
    assert all(share == [c for c in whole if c in share] for share in found)  # in the order of the plan
    loads = [sum(c.n_requests for c in share) for share in found]
    assert max(loads) - min(loads) <= max(sizes, default=0)


@given(st.lists(st.integers(1, 9), min_size=2, max_size=9), st.integers(1, 4))
def test_cells_that_ask_the_same_stay_together(sizes: list[int], shares: int) -> None:
    together = [replace(cell, shares="t_1") if at % 2 else cell for at, cell in enumerate(cells(sizes))]
    found = [{cell.name for cell in share} for share in dealt(together, shares)]
    assert [share for share in found if {c.name for c in together if c.shares} <= share]
    assert sum(map(len, found)) == len(sizes)
