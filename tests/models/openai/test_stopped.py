"""Runs that are killed or interrupted: what was answered is stored, and is not paid for again."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from tests.conftest import ROOT, Cli
from tests.models.faulty import Faulty, faulty

WORDS = "--task.task_name afrimmlu --task.languages yor --task.prompts 1 --task.answer_form generate"
DOCUMENTS = 8
SOON = 60  # seconds; a machine may be busy


def begun(server: Faulty, folder: Path, *words: object) -> "subprocess.Popen[str]":
    """Starts a run in a process of its own, which ends itself after a number of answers, 0 for none."""
    at, *more = map(str, words)
    given = [at, *server.options, *WORDS.split(), "--data.source", "samples", "--run_dir", str(folder), *more]
    command = [sys.executable, "-m", "tests.models.openai.dying", *given]
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    return subprocess.Popen(
        command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def test_a_killed_run_pays_nothing_twice(run_demo: Cli, tmp_path: Path) -> None:
    with faulty(()) as server:
        killed = begun(server, tmp_path / "run", 3, "--model.api.max_concurrency", 1)
        killed.communicate(timeout=SOON)
        assert killed.returncode == -signal.SIGKILL and len(server.asked) == 3
        assert run_demo(*server.options, *WORDS.split()).code == 0
    assert len(server.asked) == DOCUMENTS and set(server.answered.values()) == {1}


def test_an_interrupted_run_ends_at_once_with_what_it_has(run_demo: Cli, tmp_path: Path) -> None:
    """All remaining answers drip for many seconds."""
    with faulty(["drip"]) as server:
        server.faults = ()
        assert run_demo(*server.options, *WORDS.split(), "--eval.limit", 3).code == 0
        server.faults = ["drip"] * 10  # also where a request is repeated, as on a busy machine
        run = begun(server, tmp_path / "run", 0)
        until = time.monotonic() + SOON
        while len(server.asked) < 5 and time.monotonic() < until:
            time.sleep(0.05)
        interrupted = time.monotonic()
        run.send_signal(signal.SIGINT)
        _, err = run.communicate(timeout=SOON)
        assert run.returncode == 130 and "stopped" in err and "Traceback" not in err, err
        assert time.monotonic() - interrupted < 5
        (answers,) = (tmp_path / "run").glob("answers_*.jsonl")
        assert len(answers.read_text().splitlines()) == 3
        assert (tmp_path / "run/summary.csv").exists()
