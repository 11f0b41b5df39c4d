"""Commands in copies of this process, which has torch and lm_eval loaded: a new process takes 6 s for that alone."""

import importlib
import os
import signal
import socket
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

import pytest

LIBRARIES = ("lm_eval.evaluator", "lm_eval.models.huggingface", "torch.distributed")


class Fork:
    """A running copy of this process.

    Args:
        work: what it does; returns its exit code.
        output: file for its standard output; standard error has the same name with `.err` added.
        environment: variables that only the copy has.
    """

    def __init__(self, work: Callable[[], int], output: Path, **environment: str):
        for name in LIBRARIES:
            importlib.import_module(name)
        self._files = output, Path(f"{output}.err")
        self.pid = os.fork()
        if not self.pid:
            self._end(work, environment)

    def _end(self, work: Callable[[], int], environment: dict[str, str]) -> NoReturn:
        code = 70
        try:
            for stream, path in enumerate(self._files, 1):
                os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), stream)
            sys.stdout, sys.stderr = os.fdopen(1, "w", closefd=False), os.fdopen(2, "w", closefd=False)
            os.environ.update(environment)
            code = work()
            sys.stdout.flush()
        except SystemExit as e:
            code = int(e.code or 0)
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stderr.flush()
            os._exit(code)

    def wait(self, seconds: float = 120) -> tuple[int, str, str]:
        """Returns exit code, minus the number of the signal that ended it, standard output and standard error."""
        deadline = time.monotonic() + seconds
        while not (ended := os.waitpid(self.pid, os.WNOHANG))[0]:
            if time.monotonic() > deadline:
                os.kill(self.pid, signal.SIGKILL)
            time.sleep(0.01)
        out, err = (path.read_text() for path in self._files)
        return os.waitstatus_to_exitcode(ended[1]), out, err

    def stop(self, number: int, once: Callable[[], bool]) -> tuple[int, str, str]:
        """Sends a signal as soon as something is true; returns what `wait` does."""
        deadline = time.monotonic() + 120
        while not once():
            assert time.monotonic() < deadline and not os.waitpid(self.pid, os.WNOHANG)[0], "it ended before"
            time.sleep(0.01)
        os.kill(self.pid, number)
        return self.wait()


def two_ranks(command: Callable[[], int], output: Path) -> tuple[Fork, Fork]:
    """Starts two copies that share a run, with what torchrun sets in their environments."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    shared = {"WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port}
    first, second = (
        Fork(command, Path(f"{output}.{rank}"), RANK=str(rank), LOCAL_RANK=str(rank), **shared) for rank in range(2)
    )
    return first, second


def afrieval(*words: object) -> Callable[[], int]:
    """Returns a function that runs a command, as a process of its own would."""

    def run() -> int:
        from afrieval.cli.main import main

        with pytest.MonkeyPatch.context() as patch:
            patch.delenv("AFRIEVAL_DATA", raising=False)
            return main([str(word) for word in words])

    return run
