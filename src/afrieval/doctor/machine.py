"""Processors, memory, GPUs, and room on the disks."""

import os
import shutil
import tempfile
from pathlib import Path
from typing import Any

import psutil

from afrieval.doctor.finding import Finding, Status
from afrieval.errors import CURES

GB = 1e9
LITTLE = 1 * GB  # of a disk: samples of a large run need more
MANY = 20 * GB  # of a disk: what a model of 8 billion parameters needs
CONTROL_GROUP = Path("/sys/fs/cgroup/memory.max")
DRIVER = Path("/proc/driver/nvidia/version")


def processor_finding(limit: Path = CONTROL_GROUP) -> Finding:
    """Returns the processors and the memory that this process may use.

    Args:
        limit: file with the limit that a batch system or container sets, if it exists.
    """
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    memory = psutil.virtual_memory()
    text = limit.read_text().strip() if limit.exists() else ""
    total = min(memory.total, int(text)) if text.isdecimal() else memory.total
    free = min(memory.available, total)
    return Finding("processor", "ok", f"{cores} cores, {_gb(free)} of {_gb(total)} memory free")


def gpu_findings(torch: Any, wanted: bool, driver: Path = DRIVER) -> list[Finding]:
    """Returns the GPUs that torch can use, or why it cannot use any.

    Args:
        torch: the package.
        wanted: whether a model of the config needs one.
        driver: file that exists where NVIDIA's driver is loaded.
    """
    if torch.cuda.is_available():
        return [_gpu(torch, number) for number in range(torch.cuda.device_count())]
    if torch.backends.mps.is_available():
        return [Finding("GPU", "ok", "that of Apple silicon (mps)")]
    if not driver.exists():
        status: Status = "problem" if wanted else "note"
        cure = "run on a machine with a GPU, or give --model.device cpu" if wanted else ""
        return [Finding("GPU", status, "none; models run on the processor", cure)]
    if not torch.version.cuda:
        found = f"there is a driver of NVIDIA, but torch {torch.__version__} is built without CUDA"
        version = torch.__version__.partition("+")[0]
        return [Finding("GPU", "problem", found, f"install a build of torch {version} with CUDA (pytorch.org)")]
    if os.environ.get("CUDA_VISIBLE_DEVICES") in ("", "-1"):
        found = "CUDA_VISIBLE_DEVICES hides all GPUs"
        return [Finding("GPU", "problem" if wanted else "note", found, "unset it, or name GPUs, such as 0")]
    found = f"there is a driver of NVIDIA, but torch cannot use it with CUDA {torch.version.cuda}"
    return [Finding("GPU", "problem", found, "update the driver, or check that the job was given a GPU (nvidia-smi)")]


def _gpu(torch: Any, number: int) -> Finding:
    free, total = torch.cuda.mem_get_info(number)
    name = torch.cuda.get_device_name(number)
    if free < total / 2:
        found = f"{name}, only {_gb(free)} of {_gb(total)} free"
        return Finding(f"GPU {number}", "note", found, "see with nvidia-smi which programs use it")
    return Finding(f"GPU {number}", "ok", f"{name}, {_gb(free)} of {_gb(total)} free")


def folder_finding(check: str, folder: Path, holds_models: bool = False) -> Finding:
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
        return Finding(check, "problem", found, cure)
    found = f"{folder}, {_gb(free)} free"
    if free < LITTLE:
        return Finding(check, "problem", found, "free some space, or name a folder on another disk")
    if holds_models and free < MANY:
        return Finding(check, "note", found, "large models need more; HF_HOME names another folder")
    return Finding(check, "ok", found)


def _gb(size: float) -> str:
    return f"{size / GB:,.1f} GB"
