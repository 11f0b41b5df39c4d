"""States of jobs as squeue and sacct give them; both are small programs here."""

from collections.abc import Callable
from pathlib import Path

import pytest

from afrieval._util.errors import UserError
from afrieval.tools.sweep.slurm import Queued, states

Install = Callable[[str, str], None]


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Install:
    """Returns a function that writes a program; PATH has only these."""
    programs = tmp_path / "bin"
    programs.mkdir()
    monkeypatch.setenv("PATH", str(programs))

    def write(name: str, script: str) -> None:
        (programs / name).write_text(f"#!/bin/sh\n{script}\n")
        (programs / name).chmod(0o755)

    return write


def test_queued_and_running_jobs_with_reasons(install: Install) -> None:
    install("squeue", "echo '12_0|PENDING|Priority'; echo '12_1|RUNNING|None'; echo '13|PENDING|Resources'")
    assert states(["12_0", "12_1"]) == {"12_0": Queued("PENDING", "Priority"), "12_1": Queued("RUNNING", "")}


def test_older_jobs_are_looked_for_in_the_accounts(install: Install) -> None:
    install("squeue", "echo '12_0|RUNNING|None'")
    install("sacct", "echo '12_1|TIMEOUT'; echo '12_2|CANCELLED by 1000'; echo '12_0|PENDING'; echo '99|FAILED'")
    found = states(["12_0", "12_1", "12_2", "12_3"])
    assert {name: each.state for name, each in found.items()} == {
        "12_0": "RUNNING",
        "12_1": "TIMEOUT",
        "12_2": "CANCELLED",
    }


def test_a_cluster_without_accounts_has_no_older_jobs(install: Install) -> None:
    install("squeue", "")
    install("sacct", "echo 'Slurm accounting storage is disabled' >&2; exit 1")
    assert states(["12"]) == {}


def test_slurm_is_not_asked_about_nothing(install: Install) -> None:
    install("squeue", "exit 1")
    assert states([]) == {}


@pytest.mark.parametrize(
    ("state", "ended"), [("PENDING", False), ("COMPLETING", False), ("TIMEOUT", True), ("NODE_FAIL", True)]
)
def test_which_states_are_the_end(state: str, ended: bool) -> None:
    assert Queued(state, "").ended == ended


def test_states_in_words() -> None:
    assert str(Queued("NODE_FAIL", "")) == "node fail"
    assert str(Queued("PENDING", "Priority")) == "pending (Priority)"


def test_a_controller_that_does_not_answer(install: Install) -> None:
    install("squeue", "echo 'slurm_load_jobs error: Unable to contact slurm controller' >&2; exit 1")
    with pytest.raises(UserError, match="Unable to contact slurm controller"):
        states(["12"])


def test_no_slurm(install: Install) -> None:
    with pytest.raises(UserError, match="squeue is not installed"):
        states(["12"])
