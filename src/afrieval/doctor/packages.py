"""Versions of Python and of packages, against those that afrieval supports."""

import platform
from importlib import metadata

from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

from afrieval.doctor.finding import Finding

SHOWN = ("lm-eval", "transformers", "torch", "datasets", "huggingface-hub")
OPTIONAL = ("vllm", "submitit", "ray", "matplotlib")  # shown if they are there


def package_findings() -> list[Finding]:
    """Returns the versions of Python, afrieval and the packages that it needs."""
    ours = metadata.metadata("afrieval")
    needed = [Requirement(text) for text in metadata.requires("afrieval") or []]
    wrong = [finding for requirement in needed if (finding := _fault(requirement))]
    versions = ", ".join(f"{name} {version}" for name in (*SHOWN, *OPTIONAL) if (version := _version(name)))
    good = [] if wrong else [Finding("packages", "ok", versions)]
    return [_python(ours["Requires-Python"]), Finding("afrieval", "ok", ours["Version"]), *good, *wrong]


def _python(supported: str) -> Finding:
    version = platform.python_version()
    if SpecifierSet(supported).contains(version, prereleases=True):
        return Finding("Python", "ok", version)
    return Finding("Python", "problem", f"{version} is not supported", f"install Python {supported}")


def _fault(requirement: Requirement) -> Finding | None:
    """Returns what is wrong with a package; what only an extra of afrieval needs may be missing."""
    name, version = requirement.name, _version(requirement.name)
    optional = bool(requirement.marker and not requirement.marker.evaluate({"extra": ""}))
    if (version is None and optional) or (version and requirement.specifier.contains(version, prereleases=True)):
        return None
    found = f"{version} is installed, but {requirement.specifier} is needed" if version else "is not installed"
    return Finding(name, "note" if optional else "problem", found, f"pip install '{name}{requirement.specifier}'")


def _version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None
