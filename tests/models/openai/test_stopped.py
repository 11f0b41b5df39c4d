"""A run that is interrupted ends at once with what it has; tests/faults has runs that are killed."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from tests.conftest import ROOT, Cli
from tests.models.faulty import faulty
from tests.models.openai.conftest import WRITES

SOON = 60  # seconds; a machine may be busy


def test_an_interrupted_run_ends_at_once_with_what_it_has(run_demo: Cli, tmp_path: Path) -> None:
    """All remaining answers drip for many seconds."""
    with faulty(["drip"]) as server:
        server.faults = ()
        assert run_demo(*server.options, *WRITES, "--eval.limit", 3).code == 0
        server.faults = ["drip"] * 10  # also where a request is repeated, as on a busy machine
        words = [*server.options, *map(str, WRITES), "--data.source=samples", f"--run_dir={tmp_path}/run"]
        run = subprocess.Popen(
            [sys.executable, "-m", "afrieval.cli.main", "run", *words],
            cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT / "src")}, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
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
