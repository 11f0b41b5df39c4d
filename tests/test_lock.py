"""constraints.txt, which pip reads, says the same as poetry.lock; neither names an index."""

import re
import tomllib
from collections import Counter
from pathlib import Path

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).parents[1]


def canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def locked() -> dict[str, set[str]]:
    versions: dict[str, set[str]] = {}
    for package in tomllib.loads((ROOT / "poetry.lock").read_text())["package"]:
        versions.setdefault(canonical(package["name"]), set()).add(package["version"])
    return versions


def constrained() -> dict[str, set[str]]:
    versions: dict[str, set[str]] = {}
    for line in (ROOT / "constraints.txt").read_text().splitlines():
        requirement = line.split(";")[0].strip()
        name, version = requirement.split("==")
        versions.setdefault(canonical(name.split("[")[0]), set()).add(version)
    return versions


def test_constraints_equal_the_lock() -> None:
    """But for torch's GPU libraries: torch pins them itself, and two constraints on one name cannot both hold."""
    expected = {n: v for n, v in locked().items() if not n.startswith(("nvidia-", "cuda-"))}
    assert constrained() == expected


@pytest.mark.parametrize("python", ["3.11", "3.12", "3.13"])
@pytest.mark.parametrize(("system", "machine"), [("linux", "x86_64"), ("darwin", "arm64"), ("win32", "AMD64")])
def test_no_platform_has_two_constraints_on_one_name(python: str, system: str, machine: str) -> None:
    """Pip could satisfy neither."""
    here = {"python_version": python, "sys_platform": system, "platform_machine": machine}
    requirements = [Requirement(line) for line in (ROOT / "constraints.txt").read_text().splitlines()]
    names = [r.name for r in requirements if r.marker is None or r.marker.evaluate(here)]
    assert [name for name, n in Counter(names).items() if n > 1] == []


def test_no_index_is_named() -> None:
    lock = tomllib.loads((ROOT / "poetry.lock").read_text())
    assert not [p["name"] for p in lock["package"] if "source" in p]
    assert "://" not in (ROOT / "constraints.txt").read_text()


def test_every_dependency_is_locked_and_explained() -> None:
    text = (ROOT / "pyproject.toml").read_text()
    project, known = tomllib.loads(text)["project"], locked()
    for requirement in [*project["dependencies"], *project["optional-dependencies"]["dev"]]:
        name = re.split(r"[ \[(]", requirement)[0]
        assert canonical(name) in known, requirement
        line = next(line for line in text.splitlines() if f'"{requirement}"' in line)
        assert "#" in line, f"{name} does not say why it is there"
