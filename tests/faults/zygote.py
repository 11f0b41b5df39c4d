"""A process that has imported everything, and runs each command in a fork: it starts in milliseconds.

It reads jobs as lines of JSON, and answers each with its process id, and with its exit status once it has ended.
"""

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from tests.conftest import ROOT

PATIENCE = 120  # seconds; commands here take one or two
WORKER = "worker"  # first of the words of a worker of a sweep, before its arguments


class Child:
    """A command that runs.

    Attributes:
        pid: its process id.
        log: the file with what it prints.
    """

    def __init__(self, zygote: "Zygote", pid: int, log: Path):
        self._zygote, self.pid, self.log = zygote, pid, log

    def wait(self, *signals: tuple[float, int]) -> int:
        """Returns the exit status, negative for a signal; before it ends, it gets signals, each after some seconds."""

        def send(number: int) -> None:
            with suppress(ProcessLookupError):  # it may have ended
                os.kill(self.pid, number)

        timers = [threading.Timer(after, send, [number]) for after, number in signals]
        for timer in timers:
            timer.start()
        status = int(self._zygote.line()["status"])
        for timer in timers:
            timer.cancel()
        return status


class Zygote:
    """Starts commands, one at a time."""

    def __init__(self, folder: Path):
        given = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)]), "HF_HUB_OFFLINE": "1"}
        self._log = folder / "child.log"
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.faults.zygote", str(folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=ROOT,
            env=given,
        )
        assert self.line() == {"ready": True}

    def start(self, words: Sequence[object], **spec: Any) -> Child:
        """Starts a command.

        Args:
            words: its words.
            spec: arguments of `inside.install`.
        """
        assert self._process.stdin
        job = {"words": [str(word) for word in words], "log": str(self._log), "spec": spec}
        self._process.stdin.write(json.dumps(job) + "\n")
        self._process.stdin.flush()
        return Child(self, int(self.line()["pid"]), self._log)

    def run(self, words: Sequence[object], **spec: Any) -> tuple[int, str]:
        """Runs a command, and kills it if it hangs; returns its exit status and all that it printed."""
        status = self.start(words, **spec).wait((PATIENCE, signal.SIGKILL))
        return status, self._log.read_text(encoding="utf-8", errors="replace")

    def line(self) -> dict[str, Any]:
        """Returns the next answer."""
        assert self._process.stdout
        answer: dict[str, Any] = json.loads(self._process.stdout.readline() or '{"status": "the zygote has ended"}')
        return answer

    def close(self) -> None:
        """Ends the process."""
        assert self._process.stdin
        self._process.stdin.close()
        self._process.wait(60)


def check_error(status: int, said: str, message: str = "") -> None:
    """Asserts that a command ended with an error that a user can fix: one, with its hint, no traceback, exit code 2."""
    assert status == 2, said
    assert said.count("error: ") == said.count("hint: ") == 1 and "Traceback" not in said and message in said, said


def _serve(scratch: Path) -> None:
    from afrieval.cli.main import main

    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    words = "run --model.model_name demo --data.source samples --task.languages yor --task.prompts 1 --eval.limit 1"
    for number, task in enumerate(("afrimmlu", "afrimgsm")):  # which imports all that they need
        given = [*words.split(), "--eval.max_gen_toks", "2", "--task.task_name", task]
        assert main([*given, "--run_dir", str(scratch / f"first-{number}")]) == 0
    print(json.dumps({"ready": True}), file=answers, flush=True)
    for line in sys.stdin:
        job = json.loads(line)
        if (pid := os.fork()) == 0:
            _run(job)
        print(json.dumps({"pid": pid}), file=answers, flush=True)
        status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        print(json.dumps({"status": status}), file=answers, flush=True)


def _run(job: dict[str, Any]) -> None:
    from tests.faults.inside import install

    from afrieval._util.signals import leave, listen, stoppable
    from afrieval.cli.main import command
    from afrieval.tools.jobs.job_worker import main as worker

    log = os.open(job["log"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    nowhere = os.open(os.devnull, os.O_RDONLY)
    for number, file in enumerate((nowhere, log, log)):
        os.dup2(file, number)
    listen()
    try:
        install(**job["spec"])
        if job["words"][0] == WORKER:
            leave(stoppable(lambda: worker(job["words"][1:]), ""))
        sys.argv = ["afrieval", *job["words"]]
        command()
    except SystemExit as e:
        code = e.code if isinstance(e.code, int) else 0
    except BaseException:
        import traceback

        traceback.print_exc()
        code = 1
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


if __name__ == "__main__":
    _serve(Path(sys.argv[1]))
