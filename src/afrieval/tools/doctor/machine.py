"""Processors, memory, GPUs, disks, packages and programs of this machine."""

import os
import platform
import shutil
import subprocess
import tempfile
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import psutil
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

from afrieval._util.errors import CURES
from afrieval.tools.doctor.result import CheckResult, Status

GB = 1e9
LITTLE = 1 * GB  # of a disk: samples of a large run need more
MANY = 20 * GB  # of a disk: what a model of 8 billion parameters needs
CONTROL_GROUP = Path("/sys/fs/cgroup/memory.max")
DRIVER = Path("/proc/driver/nvidia/version")


def processor_finding(limit: Path = CONTROL_GROUP) -> CheckResult:
    """Returns the processors and the memory that this process may use.

    Args:
        limit: file with the limit that a batch system or container sets, if it exists.
    """
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    memory = psutil.virtual_memory()
    text = limit.read_text().strip() if limit.exists() else ""
    total = min(memory.total, int(text)) if text.isdecimal() else memory.total
    free = min(memory.available, total)
    return CheckResult("processor", "ok", f"{cores} cores, {_gb(free)} of {_gb(total)} memory free")


def gpu_findings(torch: Any, wanted: bool, driver: Path = DRIVER) -> list[CheckResult]:
    """Returns the GPUs that torch can use, or why it cannot use any.

    Args:
        torch: the package.
        wanted: whether a model of the config needs one.
        driver: file that exists where NVIDIA's driver is loaded.
    """
    if torch.cuda.is_available():
        return [_gpu(torch, number) for number in range(torch.cuda.device_count())]
    if torch.backends.mps.is_available():
        return [CheckResult("GPU", "ok", "that of Apple silicon (mps)")]
    if not driver.exists():
        status: Status = "problem" if wanted else "note"
        cure = "run on a machine with a GPU, or give --model.device cpu" if wanted else ""
        return [CheckResult("GPU", status, "none; models run on the processor", cure)]
    if not torch.version.cuda:
        found = f"there is a driver of NVIDIA, but torch {torch.__version__} is built without CUDA"
        version = torch.__version__.partition("+")[0]
        return [CheckResult("GPU", "problem", found, f"install a build of torch {version} with CUDA (pytorch.org)")]
    if os.environ.get("CUDA_VISIBLE_DEVICES") in ("", "-1"):
        found = "CUDA_VISIBLE_DEVICES hides all GPUs"
        return [CheckResult("GPU", "problem" if wanted else "note", found, "unset it, or name GPUs, such as 0")]
    found = f"there is a driver of NVIDIA, but torch cannot use it with CUDA {torch.version.cuda}"
    return [
        CheckResult("GPU", "problem", found, "update the driver, or check that the job was given a GPU (nvidia-smi)")
    ]


def _gpu(torch: Any, number: int) -> CheckResult:
    free, total = torch.cuda.mem_get_info(number)
    name = torch.cuda.get_device_name(number)
    if free < total / 2:
        found = f"{name}, only {_gb(free)} of {_gb(total)} free"
        return CheckResult(f"GPU {number}", "note", found, "see with nvidia-smi which programs use it")
    return CheckResult(f"GPU {number}", "ok", f"{name}, {_gb(free)} of {_gb(total)} free")


def folder_finding(check: str, folder: Path, holds_models: bool = False) -> CheckResult:
    """Returns whether files can be written to a folder, which need not exist, and the room on its disk.

    Args:
        check: what the folder is.
        folder: its path.
        holds_models: whether models are downloaded to it.
    """
    there = next((part for part in (folder, *folder.absolute().parents) if part.exists()), Path("/"))
    try:
        with tempfile.TemporaryFile(dir=there) as file:
            file.write(b"1")
            file.flush()
        free = shutil.disk_usage(there).free
    except OSError as e:
        found, cure = f"{folder} cannot be written: {e.strerror}", CURES.get(e.errno or 0, "name another folder")
        return CheckResult(check, "problem", found, cure)
    found = f"{folder}, {_gb(free)} free"
    if free < LITTLE:
        return CheckResult(check, "problem", found, "free some space, or name a folder on another disk")
    if holds_models and free < MANY:
        return CheckResult(check, "note", found, "large models need more; HF_HOME names another folder")
    return CheckResult(check, "ok", found)


def _gb(size: float) -> str:
    return f"{size / GB:,.1f} GB"


SHOWN = ("lm-eval", "transformers", "torch", "datasets", "huggingface-hub")
OPTIONAL = ("vllm", "submitit", "ray", "matplotlib")  # shown if they are there


def package_findings() -> list[CheckResult]:
    """Returns the versions of Python, afrieval and the packages that it needs."""
    ours = metadata.metadata("afrieval")
    needed = [Requirement(text) for text in metadata.requires("afrieval") or []]
    wrong = [finding for requirement in needed if (finding := _fault(requirement))]
    versions = ", ".join(f"{name} {version}" for name in (*SHOWN, *OPTIONAL) if (version := _version(name)))
    good = [] if wrong else [CheckResult("packages", "ok", versions)]
    return [_python(ours["Requires-Python"]), CheckResult("afrieval", "ok", ours["Version"]), *good, *wrong]


def _python(supported: str) -> CheckResult:
    version = platform.python_version()
    if SpecifierSet(supported).contains(version, prereleases=True):
        return CheckResult("Python", "ok", version)
    return CheckResult("Python", "problem", f"{version} is not supported", f"install Python {supported}")


def _fault(requirement: Requirement) -> CheckResult | None:
    """Returns what is wrong with a package; what only an extra of afrieval needs may be missing."""
    name, version = requirement.name, _version(requirement.name)
    optional = bool(requirement.marker and not requirement.marker.evaluate({"extra": ""}))
    if (version is None and optional) or (version and requirement.specifier.contains(version, prereleases=True)):
        return None
    found = f"{version} is installed, but {requirement.specifier} is needed" if version else "is not installed"
    return CheckResult(name, "note" if optional else "problem", found, f"pip install '{name}{requirement.specifier}'")


def _version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


PATIENCE = 5  # seconds for SLURM's controller
BROWSERS = ("chromium", "chromium-browser", "google-chrome")


def slurm_finding() -> CheckResult:
    """Returns whether jobs can be submitted to SLURM from here."""
    if not shutil.which("sinfo") or not shutil.which("sbatch"):
        return CheckResult("SLURM", "note", "not on this machine")
    try:
        words = ["sinfo", "--noheader", "--format=%R %a %D"]
        done = subprocess.run(words, capture_output=True, text=True, timeout=PATIENCE)
    except (OSError, subprocess.TimeoutExpired):
        return CheckResult(
            "SLURM", "note", f"does not answer within {PATIENCE} seconds", "start it, or ask its operators"
        )
    if done.returncode:
        said = done.stderr.strip().partition("\n")[0].removeprefix("sinfo: error: ")
        return CheckResult("SLURM", "note", f"sinfo finds no cluster: {said[:60]}", "start it, or ask its operators")
    parts = [line.split() for line in done.stdout.splitlines() if line.strip()]
    named = ", ".join(f"{name} ({nodes} nodes, {state})" for name, state, nodes in parts if name)
    if find_spec("submitit") is None:
        cure = "pip install 'afrieval[slurm]', for afrieval sweep"
        return CheckResult("SLURM", "note", f"partitions {named}, but submitit is not installed", cure)
    return CheckResult("SLURM", "ok", f"partitions {named}")


def ray_finding() -> CheckResult:
    """Returns whether Ray is installed."""
    if find_spec("ray") is None:
        return CheckResult("Ray", "note", "not installed", "pip install 'afrieval[ray]', for afrieval sweep on Ray")
    return CheckResult("Ray", "ok", "installed")


def browser_finding() -> CheckResult:
    """Returns the browser that tests of pages use."""
    path = next(filter(None, map(shutil.which, BROWSERS)), None)
    if path is None:
        return CheckResult("browser", "note", "no Chromium; only tests of pages need it")
    return CheckResult("browser", "ok", path)
