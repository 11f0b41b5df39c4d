"""Versions of packages, against those that afrieval says it needs."""

import platform
from email.message import Message
from importlib import metadata

import pytest

from afrieval.tools.doctor.machine import CheckResult, package_findings


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
    assert packages.found == "torch 2.13.0+cpu, datasets 5.2.0, ray 2.60"
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
