"""Processes that share a run, as started by `torchrun` and `accelerate launch`."""

import json
import logging
import os
import re
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, nullcontext, redirect_stdout
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any, TypeVar

from afrieval._util.errors import UserError
from afrieval._util.signals import exit_code

T = TypeVar("T")
MEETING = timedelta(minutes=10)  # time limit for all processes to join
PATIENCE = timedelta(weeks=52)  # processes may wait for each other as long as a cell takes
GRACE = 5  # seconds for the first process to report an error


@dataclass(frozen=True)
class Processes:
    """The processes of a run, as seen by one of them; by default the only one.

    Attributes:
        rank: its number; only the first, 0, accesses the run folder and prints.
        count: number of processes.
        local_rank: its number on its machine.
        gather: sends a value to all processes and returns the values of all, by rank, converted by JSON.
            All processes must call it, in the same order.
    """

    rank: int = 0
    count: int = 1
    local_rank: int = 0
    gather: Callable[[Any], list[Any]] = lambda value: [value]

    @property
    def is_first(self) -> bool:
        """Whether this is the process that accesses the run folder and prints."""
        return self.rank == 0

    def run_on_rank_zero(self, work: Callable[[], T]) -> T:
        """Runs `work` in the first process and returns its result in all."""
        done: T | None = None
        with self.barrier():
            done = work() if self.is_first else None
        result: T = self.gather(done)[0]
        return result

    @contextmanager
    def barrier(self) -> Iterator[None]:
        """Waits for all processes at the end of a block; an error in one is raised in all.

        The block itself must not wait for other processes.

        Raises:
            UserError: with the error of another process.
        """
        error: Exception | None = None
        try:
            yield
        except Exception as e:
            error = e
        errors = self.gather(self._said(error) if error else None)
        failed = [rank for rank, lines in enumerate(errors) if lines]
        if error and failed[0] == self.rank:
            raise error
        if failed:
            raise UserError(*errors[failed[0]])

    def assert_equal_across_ranks(self, value: Any, name: str) -> None:
        """Checks that a value is the same in all processes."""
        values = self.gather(value)
        if any(other != values[0] for other in values):
            hint = "use the same command, files and version of the suite on all machines"
            raise UserError(f"the processes of this run differ in their {name}", hint)

    def _said(self, error: Exception) -> tuple[str, str]:
        if isinstance(error, UserError):
            return error.message, error.hint
        text = " ".join(str(error).split())[:300]
        return f"process {self.rank} failed: {type(error).__name__}: {text}", "check the output of that process"


ALONE = Processes()


@contextmanager
def joined() -> Iterator[Processes]:
    """Joins the other processes of this run, if there are any; only the first one prints."""
    count = _number("WORLD_SIZE", 1, least=1)
    if count == 1:
        if "WORLD_SIZE" in os.environ:
            _number("RANK", 0, below=1)
        yield ALONE
        return
    rank, local_rank = (_number(name, None, below=count) for name in ("RANK", "LOCAL_RANK"))
    if not os.environ.get("MASTER_ADDR", "").strip():
        raise _unusable("MASTER_ADDR", "the address of the machine of process 0")
    _number("MASTER_PORT", None, least=1, below=2**16)
    ring = _Ring()  # each process reports its own connection errors
    with nullcontext() if rank == 0 else _hushed(), closing(ring):
        yield Processes(rank, count, local_rank, ring.gather)
        ring.gather(None)  # wait until the first has written and printed everything


def _number(name: str, default: int | None, least: int = 0, below: int | None = None) -> int:
    text = os.environ.get(name, "" if default is None else str(default))
    upper = "" if below is None else f" to {below - 1}"
    if re.fullmatch(r"\d{1,9}", text) and least <= int(text) and (below is None or int(text) < below):
        return int(text)
    raise _unusable(name, f"a whole number from {least}{upper}")


def _unusable(name: str, needed: str) -> UserError:
    state = f"is {os.environ[name][:80]!r}" if name in os.environ else "is not set"
    count = os.environ.get("WORLD_SIZE")
    several = f"with WORLD_SIZE {count} it " if count and name != "WORLD_SIZE" else ""
    hint = "start several processes with torchrun or accelerate launch; for one, unset WORLD_SIZE and RANK"
    return UserError(f"{name} {state} in the environment, and {several}must be {needed}", hint)


class _Ring:
    """The connection of the processes.

    It uses the network rather than GPUs, since little is sent, and not torch's default group, so
    that libraries do not divide the work themselves.
    """

    def __init__(self) -> None:
        from torch.distributed import ProcessGroupGloo, rendezvous

        try:
            store, rank, count = next(rendezvous("env://", timeout=MEETING))
            if store.add(f"afrieval process {rank}", 1) > 1:
                raise UserError(f"two processes have RANK {rank}", "start them with torchrun or accelerate launch")
            for other in range(count):
                store.wait([f"afrieval process {other}"])
            self._group: Any = ProcessGroupGloo(store, rank, count, PATIENCE)
        except (RuntimeError, ValueError) as e:
            reason = " ".join(str(e).split())[:300]
            hint = "start all within ten minutes with torchrun or accelerate launch; check MASTER_ADDR and MASTER_PORT"
            raise UserError(f"the {os.environ['WORLD_SIZE']} processes cannot connect: {reason}", hint) from None
        self._count = count
        for name in ("WORLD_SIZE", "LOCAL_RANK"):
            os.environ.pop(name)

    def gather(self, value: Any) -> list[Any]:
        """Returns the values of all processes; any JSON value."""
        import torch

        data = torch.frombuffer(bytearray(json.dumps(value).encode()), dtype=torch.uint8)
        lengths = [int(length) for length in self._exchange(torch.tensor([len(data)]))]
        padded = torch.nn.functional.pad(data, (0, max(lengths) - len(data)))
        texts = self._exchange(padded)
        return [json.loads(text[:n].numpy().tobytes()) for text, n in zip(texts, lengths, strict=True)]

    def _exchange(self, tensor: Any) -> list[Any]:
        import torch

        received = [torch.empty_like(tensor) for _ in range(self._count)]
        try:
            self._group.allgather([received], [tensor]).wait()
        except RuntimeError:  # the connection is closed
            raise UserError(
                "another process of this run has ended",
                "check its output (without any, it was killed, maybe out of memory); run the same command to continue",
            ) from None
        return received

    def close(self) -> None:
        """Closes the connection and its threads, which would abort the process at Python's exit."""
        self._group = None


@contextmanager
def _hushed() -> Iterator[None]:
    """Suppresses output that the first process prints too, including errors, but not bugs."""
    os.environ["TQDM_DISABLE"] = "1"
    logging.disable(logging.WARNING)
    warnings.simplefilter("ignore")
    try:
        with Path(os.devnull).open("w", encoding="utf-8") as nowhere, redirect_stdout(nowhere):
            yield
    except (UserError, OSError):
        time.sleep(GRACE)  # a launcher ends all processes as soon as one has ended
        raise SystemExit(2) from None
    except KeyboardInterrupt as e:
        raise SystemExit(exit_code(e)) from None
