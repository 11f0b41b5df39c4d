"""Processors, memory, GPUs, disks and packages of this machine."""

import os
import platform
import shutil
import tempfile
from importlib import metadata
from pathlib import Path
from typing import Any, Literal, NamedTuple

import psutil
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

from afrieval._util.errors import CURES, UserError
from afrieval._util.version import __version__

GB = 1e9
LITTLE = 1 * GB  # of a disk: samples of a large run need more
MANY = 20 * GB  # of a disk: what a model of 8 billion parameters needs
CONTROL_GROUP = Path("/sys/fs/cgroup/memory.max")
DRIVER = Path("/proc/driver/nvidia/version")
SHOWN = ("lm-eval", "transformers", "torch", "datasets", "huggingface-hub")
OPTIONAL = ("vllm", "submitit", "ray", "matplotlib")  # shown if they are there
Status = Literal["ok", "note", "problem"]


class CheckResult(NamedTuple):
    """A line of `afrieval doctor`.

    Attributes:
        status: ok; note, if nothing keeps the given config from running; or problem.
        finding: what there is.
        cure: what the user can do; empty if there is nothing to do.
    """

    check: str
    status: Status
    finding: str
    cure: str = ""


def of_error(check: str, error: UserError) -> CheckResult:
    """Returns an error that a run would end with, as a problem."""
    return CheckResult(check, "problem", error.message, error.hint)


def processor_finding(limit: Path = CONTROL_GROUP) -> CheckResult:
    """Returns the processors and the memory that this process may use.

    `limit` is the file with the limit that a batch system or container sets.
    """
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    memory = psutil.virtual_memory()
    text = limit.read_text(encoding="utf-8").strip() if limit.exists() else ""
    total = min(memory.total, int(text)) if text.isdecimal() else memory.total
    free = min(memory.available, total)
    return CheckResult("processor", "ok", f"{cores} cores, {_gb(free)} of {_gb(total)} memory free")


def gpu_findings(torch: Any, needs_gpu: bool, driver: Path = DRIVER) -> list[CheckResult]:
    """Returns the GPUs that torch can use, or why it cannot use any.

    `driver` exists where NVIDIA's driver is loaded.
    """
    if torch.cuda.is_available():
        return [_gpu(torch, number) for number in range(torch.cuda.device_count())]
    if torch.backends.mps.is_available():
        return [CheckResult("GPU", "ok", "Apple silicon (mps)")]
    needed: Status = "problem" if needs_gpu else "note"
    if not driver.exists():
        cure = "run on a machine with a GPU, or give --model.device cpu" if needs_gpu else ""
        return [CheckResult("GPU", needed, "none; models run on the processor", cure)]
    if torch.version.cuda and os.environ.get("CUDA_VISIBLE_DEVICES") in ("", "-1"):
        problem = "CUDA_VISIBLE_DEVICES hides all GPUs"
        return [CheckResult("GPU", needed, problem, "unset it, or name GPUs, such as 0")]
    if torch.version.cuda:
        problem = f"there is a driver of NVIDIA, but torch cannot use it with CUDA {torch.version.cuda}"
        cure = "update the driver, or check that the job was given a GPU (nvidia-smi)"
    else:
        problem = f"there is a driver of NVIDIA, but torch {torch.__version__} is built without CUDA"
        cure = f"install a build of torch {torch.__version__.partition('+')[0]} with CUDA (pytorch.org)"
    return [CheckResult("GPU", "problem", problem, cure)]


def _gpu(torch: Any, number: int) -> CheckResult:
    free, total = torch.cuda.mem_get_info(number)
    name, room = torch.cuda.get_device_name(number), f"{_gb(free)} of {_gb(total)} free"
    if free < total / 2:
        cure = "see with nvidia-smi which programs use it"
        return CheckResult(f"GPU {number}", "note", f"{name}, only {room}", cure)
    return CheckResult(f"GPU {number}", "ok", f"{name}, {room}")


def folder_finding(check: str, folder: Path, holds_models: bool = False) -> CheckResult:
    """Returns whether files can be written to a folder, which need not exist, and the room on its disk."""
    existing = next((part for part in (folder, *folder.absolute().parents) if part.exists()), Path("/"))
    try:
        with tempfile.TemporaryFile(dir=existing) as file:
            file.write(b"1")
            file.flush()
        free = shutil.disk_usage(existing).free
    except OSError as e:
        finding, cure = f"{folder} cannot be written: {e.strerror}", CURES.get(e.errno or 0, "name another folder")
        return CheckResult(check, "problem", finding, cure)
    finding = f"{folder}, {_gb(free)} free"
    if free < LITTLE:
        return CheckResult(check, "problem", finding, "free some space, or name a folder on another disk")
    if holds_models and free < MANY:
        return CheckResult(check, "note", finding, "large models need more; HF_HOME names another folder")
    return CheckResult(check, "ok", finding)


def _gb(size: float) -> str:
    return f"{size / GB:,.1f} GB"


def package_findings() -> list[CheckResult]:
    """Returns the versions of Python, afrieval and the packages that it needs."""
    supported, python = metadata.metadata("afrieval")["Requires-Python"], platform.python_version()
    lines = [CheckResult("Python", "ok", python), CheckResult("afrieval", "ok", __version__)]
    if not SpecifierSet(supported).contains(python, prereleases=True):
        lines[0] = CheckResult("Python", "problem", f"{python} is not supported", f"install Python {supported}")
    wrong = []
    for requirement in map(Requirement, metadata.requires("afrieval") or []):
        name, specifier, version = requirement.name, requirement.specifier, _version(requirement.name)
        optional = bool(requirement.marker and not requirement.marker.evaluate({"extra": ""}))  # an extra needs it
        if (version is None and optional) or (version and specifier.contains(version, prereleases=True)):
            continue
        finding = f"{version} is installed, but {specifier} is needed" if version else "is not installed"
        status: Status = "note" if optional else "problem"
        wrong.append(CheckResult(name, status, finding, f"pip install '{name}{specifier}'"))
    if wrong:
        return [*lines, *wrong]
    versions = ", ".join(f"{name} {version}" for name in (*SHOWN, *OPTIONAL) if (version := _version(name)))
    return [*lines, CheckResult("packages", "ok", versions)]


def _version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None
