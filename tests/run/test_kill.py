"""A run that is killed loses one pack of work at most, and what it has is not asked again."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.conftest import ROOT

WORDS = "--model.model_name demo --data.source samples --task.task_name afrimmlu --task.languages yor --task.prompts 1"


def run(folder: Path, notes: Path, dies_at: int) -> int:
    given = [*WORDS.split(), "--run_dir", str(folder)]
    command = [sys.executable, "-m", "tests.run.dying", str(notes), str(dies_at), *given]
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, timeout=120).returncode


def kept(folder: Path) -> list[str]:
    lines = [line for p in folder.glob("answers_*.jsonl") for line in p.read_text().splitlines()]
    return [json.loads(line)[0] for line in lines]


def read(notes: Path) -> Any:
    return json.loads(notes.read_text())


def test_answers_of_every_pack_that_was_done_are_kept(tmp_path: Path) -> None:
    folder, notes = tmp_path / "run", tmp_path / "notes.json"
    assert run(folder, notes, dies_at=4) == -signal.SIGKILL
    before = read(notes)
    assert sorted(kept(folder)) == sorted(before["complete"])
    assert 0 < len(before["complete"]) < len(before["asked"])
    assert run(folder, notes, dies_at=0) == 0
    assert set(read(notes)["asked"]) == set(before["asked"]) - set(before["complete"])
    assert sorted(kept(folder)) == sorted(before["asked"])
