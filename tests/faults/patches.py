"""What a system may do that Python's audit events do not show: memory that is full, clocks that jump, NFS."""

import errno
import itertools
import os
import resource
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any


def no_locks() -> None:
    """Lets locks fail as on NFS without a lock daemon."""
    import fcntl

    def fail(file: Any, operation: int) -> None:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    fcntl.flock = fail


def silly_renames() -> None:
    """Leaves `.nfs` files in the place of removed ones, as NFS does where another process has them open."""
    numbers = itertools.count()

    def renamed(path: Any, *, dir_fd: int | None = None) -> None:
        if Path(os.fsdecode(path)).name.startswith(".nfs"):
            raise OSError(errno.EBUSY, os.strerror(errno.EBUSY), path)
        new = f".nfs{os.getpid():08x}{next(numbers):08x}"
        place = Path(os.fsdecode(path)).with_name(new) if dir_fd is None else new
        os.rename(path, place, src_dir_fd=dir_fd, dst_dir_fd=dir_fd)

    os.unlink = os.remove = renamed


def no_waits() -> None:
    """Lets requests that failed be sent again at once."""
    import asyncio

    from afrieval.models.openai import schedule

    async def sleep(seconds: float) -> None:
        await asyncio.sleep(0)

    schedule.sleep = sleep


def before_each_pass(act: Callable[[int], None], after: Callable[[], None] = lambda: None) -> None:
    """Calls a function before each forward pass for requests, with its tokens, and another after each set of them."""
    import torch

    from afrieval.models.response_cache import CachedLM

    asks, asking = CachedLM._ask_all, list[str]()

    def ask_all(cached: Any, method: str, new: dict[str, Any]) -> Any:
        asking.append(method)
        try:
            return asks(cached, method, new)
        finally:
            asking.pop()
            after()

    def before(module: Any, args: tuple[Any, ...]) -> None:
        if asking and isinstance(module, torch.nn.Embedding):
            act(args[0].numel())

    CachedLM._ask_all = ask_all  # type: ignore[method-assign, assignment]
    torch.nn.modules.module.register_module_forward_pre_hook(before)


def out_of_memory(every: int) -> None:
    """Lets about one forward pass in so many fail as where a device's memory is full."""
    import torch

    passes = itertools.count(1)

    def fail(tokens: int) -> None:
        if next(passes) * 7919 % every == 0:
            raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB.")

    before_each_pass(fail)


def jumping_clock(seconds: int) -> None:
    """Lets the clock on the wall jump by so many seconds, forwards and back, each time that it is read."""
    real, nanoseconds, sides = time.time, time.time_ns, itertools.cycle([0, 1, -1])
    time.time = lambda: real() + seconds * next(sides)
    time.time_ns = lambda: nanoseconds() + seconds * next(sides) * 10**9


def little_memory(megabytes: int) -> None:
    """Limits the memory that the process may take, in addition to what it has, from the second set of requests on."""
    import psutil

    from afrieval.models.response_cache import CachedLM

    asks, calls = CachedLM._ask_all, itertools.count(1)

    def ask_all(cached: Any, method: str, new: dict[str, Any]) -> Any:
        if next(calls) == 2:
            most = psutil.Process().memory_info().vms + megabytes * 2**20
            resource.setrlimit(resource.RLIMIT_AS, (most, most))
        return asks(cached, method, new)

    CachedLM._ask_all = ask_all  # type: ignore[method-assign, assignment]


def other_extractor() -> None:
    """Lets every number be found that a question asks for, as after a correction of its extractor."""
    from afrieval.scoring.extract import EXTRACTORS

    EXTRACTORS["number"] = lambda: lambda text, question, asked: question.gold
