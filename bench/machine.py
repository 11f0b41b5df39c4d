"""The machine that benchmarks run on: its name, its rate, and the memory that something takes."""

import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import psutil
import torch

from afrieval.models.engine.processor import processor_name

EVERY = 0.01  # seconds between looks at a process' memory


def machine(device: str = "cpu") -> str:
    """Returns the name of a device, for people."""
    if device.startswith("cuda"):
        return str(torch.cuda.get_device_name(device))
    threads = torch.get_num_threads()
    return f"{processor_name()}, {threads} thread{'s' * (threads > 1)}"


def clock(device: str) -> float:
    """Returns seconds since some moment, when a device computes nothing.

    With one thread of a CPU, processor time of this process, so that other work on the machine counts little.
    """
    if device.startswith("cuda"):
        torch.cuda.synchronize(device)
    return time.process_time() if device == "cpu" and torch.get_num_threads() == 1 else time.perf_counter()


def matrix_rate(device: str, dtype: str) -> float:
    """Returns the FLOP/s of products of large square matrices, at best: the machine may be busy now and then."""
    n, repeats, rounds = (2048, 3, 10) if device == "cpu" else (8192, 50, 5)
    a, b = (torch.randn(n, n, dtype=getattr(torch, dtype), device=device) for _ in range(2))

    def seconds() -> float:
        begin = clock(device)
        for _ in range(repeats):
            a @ b
        return clock(device) - begin

    seconds()  # libraries set themselves up
    return 2 * n**3 * repeats / min(seconds() for _ in range(rounds))


@contextmanager
def peak_memory(device: str) -> Iterator[list[float]]:
    """Yields a list whose element is afterwards the most bytes in use inside, beyond those in use before.

    On a GPU, what this process' torch has allocated; else the resident memory of the process.
    """
    peak = [0.0]
    if device.startswith("cuda"):
        torch.cuda.reset_peak_memory_stats(device)
        before = torch.cuda.memory_allocated(device)
        yield peak
        peak[0] = torch.cuda.max_memory_allocated(device) - before
        return
    process, done = psutil.Process(), threading.Event()
    start = process.memory_info().rss

    def watch() -> None:
        while not done.wait(EVERY):
            peak[0] = max(peak[0], process.memory_info().rss - start)

    thread = threading.Thread(target=watch)
    thread.start()
    try:
        yield peak
    finally:
        done.set()
        thread.join()


def used(device: str) -> int:
    """Returns the bytes of a GPU's memory that any process has taken."""
    free, total = torch.cuda.mem_get_info(device)
    return int(total - free)


def cores_taken() -> tuple[float, float, float]:
    """Returns the seconds that all cores were busy, those of this process and its ended children, and the time."""
    now = psutil.cpu_times()
    own = os.times()
    ours = own.user + own.system + own.children_user + own.children_system
    return now.user + now.nice + now.system, ours, time.perf_counter()


def taken_by_others(before: tuple[float, float, float]) -> float:
    """Returns the share of the cores that other programs have taken since `cores_taken` returned what is given."""
    busy, ours, seconds = (now - then for now, then in zip(cores_taken(), before, strict=True))
    return max(0.0, busy - ours) / (seconds * (os.cpu_count() or 1))
