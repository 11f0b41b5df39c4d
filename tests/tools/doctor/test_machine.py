"""Processors, GPUs, disks and packages, as they are on other machines."""

import platform
import shutil
from email.message import Message
from importlib import metadata
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from afrieval.tools.doctor.machine import CheckResult, folder_finding, gpu_findings, package_findings, processor_finding


def torch(cuda: str | None = None, free: float = 0, gpus: int = 0, mps: bool = False) -> Any:
    """Returns what stands for torch on a machine with some GPUs of 80 GB."""
    of_cuda = SimpleNamespace(
        is_available=lambda: gpus > 0,
        device_count=lambda: gpus,
        mem_get_info=lambda number: (free * 1e9, 80e9),
        get_device_name=lambda number: "NVIDIA H100",
    )
    backends = SimpleNamespace(mps=SimpleNamespace(is_available=lambda: mps))
    version = SimpleNamespace(cuda=cuda)
    return SimpleNamespace(cuda=of_cuda, backends=backends, version=version, __version__="2.13.0+cpu")


@pytest.fixture
def driver(tmp_path: Path) -> Path:
    path = tmp_path / "version"
    path.touch()
    return path


def test_gpus_and_their_memory(driver: Path) -> None:
    first, second = gpu_findings(torch("13.0", free=79, gpus=2), True, driver)
    assert first == ("GPU 0", "ok", "NVIDIA H100, 79.0 GB of 80.0 GB free", "") and second.check == "GPU 1"
    (full,) = gpu_findings(torch("13.0", free=3, gpus=1), True, driver)
    assert full.status == "note" and "only 3.0 GB of 80.0 GB free" in full.finding and "nvidia-smi" in full.cure
    (apple,) = gpu_findings(torch(mps=True), False, driver)
    assert apple.status == "ok"


def test_why_torch_has_no_gpu(driver: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    for wanted, status in ((False, "note"), (True, "problem")):
        (none,) = gpu_findings(torch(), wanted, tmp_path / "no driver")
        assert none.status == status and bool(none.cure) == wanted
    (built,) = gpu_findings(torch(), False, driver)
    assert built.status == "problem" and "2.13.0+cpu is built without CUDA" in built.finding
    assert "torch 2.13.0 with CUDA" in built.cure
    (old,) = gpu_findings(torch("13.0"), False, driver)
    assert old.status == "problem" and "update the driver" in old.cure
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    (hidden,) = gpu_findings(torch("13.0"), True, driver)
    assert hidden.status == "problem" and "CUDA_VISIBLE_DEVICES hides" in hidden.finding


def test_memory_is_that_of_the_control_group(tmp_path: Path) -> None:
    limit = tmp_path / "memory.max"
    limit.write_text("2000000000\n")
    assert "of 2.0 GB memory free" in processor_finding(limit).finding
    for unlimited in ("max\n", str(2**62)):
        limit.write_text(unlimited)
        total = processor_finding(limit).finding.partition(" of ")[2]
        assert total == processor_finding(tmp_path / "none").finding.partition(" of ")[2]


def test_room_of_a_folder_that_does_not_exist_yet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "runs/a/b"
    for free, run, cache in ((0.5, "problem", "problem"), (10, "ok", "note"), (100, "ok", "ok")):
        monkeypatch.setattr(shutil, "disk_usage", lambda _, free=free: SimpleNamespace(free=free * 1e9))
        assert folder_finding("run folder", folder).status == run
        assert folder_finding("hub cache", folder, holds_models=True).status == cache
    assert not list(tmp_path.iterdir())


def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch()
    found = folder_finding("run folder", file / "runs")
    assert found.status == "problem" and "cannot be written: Not a directory" in found.finding and found.cure


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """Returns the packages of an environment, to be changed."""
    there = {"afrieval": "0.1.0", "torch": "2.13.0+cpu", "datasets": "5.2.0", "ray": "2.60"}
    needs = ["torch==2.13.0", "datasets<6,>=5.2", 'ray<3,>=2.60; extra == "ray"']

    def version(name: str) -> str:
        if name not in there:
            raise metadata.PackageNotFoundError(name)
        return there[name]

    ours = Message()
    ours["Version"], ours["Requires-Python"] = "0.1.0", "<3.14,>=3.11"
    monkeypatch.setattr(metadata, "version", version)
    monkeypatch.setattr(metadata, "requires", lambda _: needs)
    monkeypatch.setattr(metadata, "metadata", lambda _: ours)
    return there


def test_supported_versions(installed: dict[str, str]) -> None:
    python, ours, packages = package_findings()
    assert {f.status for f in (python, ours, packages)} == {"ok"}
    assert packages.finding == "torch 2.13.0+cpu, datasets 5.2.0, ray 2.60"
    del installed["ray"]
    assert all(finding.status == "ok" for finding in package_findings()), "an extra need not be there"


def test_other_versions_have_a_cure(installed: dict[str, str]) -> None:
    installed.update(datasets="4.8", ray="2.9")
    del installed["torch"]
    assert package_findings()[2:] == [
        CheckResult("torch", "problem", "is not installed", "pip install 'torch==2.13.0'"),
        CheckResult(
            "datasets", "problem", "4.8 is installed, but <6,>=5.2 is needed", "pip install 'datasets<6,>=5.2'"
        ),
        CheckResult("ray", "note", "2.9 is installed, but <3,>=2.60 is needed", "pip install 'ray<3,>=2.60'"),
    ]


def test_an_old_python(installed: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platform, "python_version", lambda: "3.9.1")
    python = package_findings()[0]
    assert python.status == "problem" and python.cure == "install Python <3.14,>=3.11"
