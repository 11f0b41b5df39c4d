"""SLURM, as it is on a cluster, on a laptop, and when it is down; a browser."""

from pathlib import Path

import pytest

from afrieval.tools.doctor import machine
from afrieval.tools.doctor.machine import browser_finding, ray_finding, slurm_finding


@pytest.fixture
def bin_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Returns the only folder whose programs are found."""
    monkeypatch.setenv("PATH", str(tmp_path))
    return tmp_path


def put(folder: Path, name: str, script: str) -> None:
    (folder / name).write_text(f"#!/bin/sh\n{script}\n")
    (folder / name).chmod(0o755)


def test_slurm(bin_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert slurm_finding() == ("SLURM", "note", "not on this machine", "")
    put(bin_folder, "sbatch", "")
    put(bin_folder, "sinfo", "echo 'gpu up 4'; echo 'long down 1'")
    assert slurm_finding().found == "partitions gpu (4 nodes, up), long (1 nodes, down)"
    monkeypatch.setattr(machine, "find_spec", lambda name: None)
    assert slurm_finding().status == "note" and "afrieval[slurm]" in slurm_finding().cure
    assert ray_finding().status == "note" and "afrieval[ray]" in ray_finding().cure


def test_slurm_that_is_down(bin_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(bin_folder, "sbatch", "")
    put(bin_folder, "sinfo", "echo 'sinfo: error: no controller' >&2; exit 1")
    assert slurm_finding().found == "sinfo finds no cluster: no controller"
    put(bin_folder, "sinfo", "read nothing < /dev/zero")
    monkeypatch.setattr(machine, "PATIENCE", 0.1)
    assert "does not answer within 0.1 seconds" in slurm_finding().found


def test_a_browser(bin_folder: Path) -> None:
    assert browser_finding().status == "note"
    put(bin_folder, "google-chrome", "")
    assert browser_finding() == ("browser", "ok", str(bin_folder / "google-chrome"), "")
